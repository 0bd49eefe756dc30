# RUN: %python %S/Inputs/control_flow.py %tlec %t 0 80 | %filecheck %s
# Random functions of nested control flow: their TIR, interpreted, gives what Python itself gives.
# CHECK: 80 programs agree with Python
