# The golden suites: kernels (.py) and TIR text (.tir) with RUN lines, checked by FileCheck.
#
# Substitutions: %tlec %tleopt %tlegrid %filecheck %not %python %kernels; and lit's own %s, %t, %S.
# Tests that need ptxas say `REQUIRES: ptxas`.
import os

import lit.formats

config.name = "golden"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".py", ".tir", ".test"]
config.excludes = ["lit.cfg.py", "lit.site.cfg.py", "Inputs"]
config.test_source_root = os.path.join(config.tle_source_dir, "tests", "golden")
config.test_exec_root = os.path.join(config.tle_build_dir, "tests", "golden")


def program(folder, name):
    return os.path.join(folder, name)


config.substitutions += [
    ("%tlec", program(config.tle_bin_dir, "tlec")),
    ("%tleopt", program(config.tle_bin_dir, "tle-opt")),
    ("%tlegrid", program(config.tle_bin_dir, "tle-grid")),
    ("%filecheck", program(config.llvm_bin_dir, "FileCheck") + " --dump-input-context=12"),
    ("%not", program(config.llvm_bin_dir, "not")),
    ("%python", config.python),
    ("%kernels", os.path.join(config.tle_source_dir, "kernels_tle")),
    ("%ptxas", config.ptxas),
]
if os.path.exists(config.ptxas):
    config.available_features.add("ptxas")
config.environment["LC_ALL"] = "C.UTF-8"
