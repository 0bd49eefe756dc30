# RUN: %not %tlec --kernel meshes --sig 'out:*i32' --emit=tir --passes= %s 2>&1 | %filecheck %s
# RUN: %not %tlec --kernel clusters --sig 'out:*i32' --emit=tir --passes= %s 2>&1 | %filecheck %s --check-prefix=USE
# RUN: %not %tlec --kernel counted --sig 'out:*i32' --emit=tir --passes= %s 2>&1 | %filecheck %s --check-prefix=COUNT
# RUN: %not %tlec --kernel barriers --sig 'out:*i32' --emit=tir --passes= %s 2>&1 | %filecheck %s --check-prefix=BARRIER
# RUN: %not %tlec --kernel grid_first --sig 'out:*i32' --emit=tir --passes= %s 2>&1 | %filecheck %s --check-prefix=GRID
# RUN: %not %tlec --kernel meshes --const 'out=@NONE' %s 2>&1 | %filecheck %s --check-prefix=NAME
# What meshes and their uses reject.
import triton
import triton.experimental.tle.language as tle
import triton.language as tl

PLANE = tle.device_mesh({"block_cluster": [("cluster_x", 2), ("cluster_y", 4)]})
LARGE = tle.device_mesh({"block_cluster": 32})
OTHER = tle.device_mesh({"block_cluster": 4})
MIXED = tle.device_mesh({"block": 4, "block_cluster": [("cluster_x", 2), ("cluster_y", 4)]})
GRID = tle.device_mesh({"block": 4})
NODES = tle.device_mesh({"node": 2, "block_cluster": [("cluster_x", 2), ("cluster_y", 4)]})

# NAME: error[{{.*}}]: the module defines no 'NONE'


@triton.jit
def meshes(out):
    # CHECK: [[#@LINE+1]]:5: error[{{.*}}]: 'topology' is empty
    tle.device_mesh({})
    # CHECK: [[#@LINE+1]]:5: error[{{.*}}]: 'topology' must be a dict of levels, found the constant 8
    tle.device_mesh(8)
    # CHECK: [[#@LINE+1]]:5: error[{{.*}}]: the size of 'block' is 0; a mesh has 1 to 65536 members
    tle.device_mesh({"block": 0})
    # CHECK: [[#@LINE+1]]:5: error[{{.*}}]: the mesh has two dimensions 'x'
    tle.device_mesh({"block": [("x", 2), ("x", 2)]})
    # CHECK: [[#@LINE+1]]:5: error[{{.*}}]: level 'block' must be a size or a list of (name, size), found
    tle.device_mesh({"block": "x"})
    # CHECK: [[#@LINE+1]]:5: error[{{.*}}]: entry 0 of level 'block' must be (name, size)
    tle.device_mesh({"block": [("x", 2, 3)]})
    # CHECK: [[#@LINE+1]]:5: error[{{.*}}]: a level of a mesh is a non-empty string, found the constant 3
    tle.device_mesh({3: 4})
    # CHECK: [[#@LINE+1]]:5: error[{{.*}}]: the sub-mesh is empty
    PLANE[2:2]
    # CHECK: [[#@LINE+1]]:5: error[{{.*}}]: index 2 is outside a mesh dimension of 2
    PLANE[2]
    # CHECK: [[#@LINE+1]]:5: error[{{.*}}]: 3 indices into a mesh of 2 dimensions
    PLANE[0, 0, 0]
    # CHECK: [[#@LINE+1]]:5: error[{{.*}}]: an index takes one '...'
    PLANE[..., ...]
    # CHECK: [[#@LINE+1]]:5: error[{{.*}}]: a mesh is indexed by integers, slices and ..., found the string 'x'
    PLANE["x"]
    # CHECK: [[#@LINE+1]]:5: error[{{.*}}]: a device_mesh of cluster_x=2, cluster_y=4 has 8 members, which do not fit a shape of 6
    PLANE.reshape(3, 2)


@triton.jit
def clusters(out):
    buf = tle.gpu.alloc([8], tl.int32)
    there = tle.remote(buf, 7, scope=PLANE)
    # USE: [[#@LINE+1]]:5: error[{{.*}}]: the launch mesh has no axis 'z'
    tle.shard_id(PLANE, "z")
    # USE: [[#@LINE+1]]:5: error[{{.*}}]: axis 2 is outside a launch mesh of 2 dimensions
    tle.shard_id(PLANE, 2)
    # USE: [[#@LINE+1]]:5: error[{{.*}}]: 'mesh' must be a device_mesh, found the constant 3
    tle.shard_id(3, 0)
    # USE: [[#@LINE+1]]:5: error[{{.*}}]: shard_id along 'node' is not available on this target
    tle.shard_id(NODES, "node")
    # USE: [[#@LINE+1]]:5: error[{{.*}}]: the mesh asks for clusters of 32 CTAs; the most is 16
    tle.shard_id(LARGE, 0)
    # USE: [[#@LINE+1]]:5: error[{{.*}}]: the mesh asks for clusters of (4, 1, 1), another one in this kernel for (2, 4, 1)
    tle.shard_id(OTHER, 0)
    # USE: [[#@LINE+1]]:5: error[{{.*}}]: the launch mesh has 32 members, the cluster 8 CTAs
    tle.shard_id(MIXED, 0)
    # USE: [[#@LINE+1]]:5: error[{{.*}}]: 'shard_id' is 8, outside the cluster
    tle.remote(buf, 8)
    # USE: [[#@LINE+1]]:5: error[{{.*}}]: 'shard_id' is -1, outside the cluster
    tle.remote(buf, -1)
    # USE: [[#@LINE+1]]:5: error[{{.*}}]: the buffer is remote already
    tle.remote(there, 0)
    # USE: [[#@LINE+1]]:5: error[{{.*}}]: a tuple 'shard_id' needs 'scope'
    tle.remote(buf, (0, 0))
    # USE: [[#@LINE+1]]:5: error[{{.*}}]: 'shard_id' is a tuple of 1, 'scope' has 2 dimensions
    tle.remote(buf, (0,), scope=PLANE)
    # USE: [[#@LINE+1]]:5: error[{{.*}}]: coordinate 4 is outside a mesh dimension of 4
    tle.remote(buf, (0, 4), scope=PLANE)
    # USE: [[#@LINE+1]]:5: error[{{.*}}]: 'shard_id' must be an integer, a tuple of them or a scalar int32, found int64
    tle.remote(buf, tl.load(out).to(tl.int64))
    # USE: [[#@LINE+1]]:5: error[{{.*}}]: 'tensor' must point into shared memory
    tle.remote(out, 0)
    # USE: [[#@LINE+1]]:5: error[{{.*}}]: 'tensor' must be a buffer or pointers, found the constant 3
    tle.remote(3, 0)
    # USE: [[#@LINE+1]]:5: error[{{.*}}]: 'space' must be 'cluster' on this target, found the string 'device'
    tle.remote(buf, 0, space="device")
    # USE: [[#@LINE+1]]:5: error[{{.*}}]: 'offset' has no meaning in space 'cluster'
    tle.remote(buf, 0, offset=4)
    # USE-NOT: error


@triton.jit
def counted(out):
    buf = tle.gpu.alloc([8], tl.int32)
    count = tle.mbarrier(2)
    p = tle.gpu.local_ptr(buf, (0,))
    # COUNT: [[#@LINE+1]]:5: error[{{.*}}]: 'count' must be 1 to 64, found 65
    tle.mbarrier(65)
    # COUNT: [[#@LINE+1]]:5: error[{{.*}}]: there is no barrier 2 among 2
    tle.mbarrier_expect(count, 2, 4)
    # COUNT: [[#@LINE+1]]:5: error[{{.*}}]: 'barrier' must be made by tle.mbarrier, found
    tle.mbarrier_wait(buf, 0, 0)
    # COUNT: [[#@LINE+1]]:5: error[{{.*}}]: 'bytes' must be an integer, found
    tle.mbarrier_expect(count, 0, tl.arange(0, 8))
    # COUNT: [[#@LINE+1]]:5: error[{{.*}}]: 'index' must be a scalar
    tle.mbarrier_wait(count, tl.arange(0, 8), 0)
    # COUNT: [[#@LINE+1]]:5: error[{{.*}}]: store_async stores elements of 32 or 64 bits, found
    tle.store_async(tle.gpu.local_ptr(tle.gpu.alloc([8], tl.int8), (0,)), 0, 1, count, 0)
    # COUNT: [[#@LINE+1]]:5: error[{{.*}}]: 'tensor' must point into shared memory
    tle.store_async(out, 0, 1, count, 0)
    # COUNT-NOT: error


@triton.jit
def barriers(out):
    tle.shard_id(PLANE, 0)
    # BARRIER: [[#@LINE+1]]:5: error[{{.*}}]: a barrier of a sub-mesh without dimensions
    tle.distributed_barrier(PLANE[0, 0])
    # BARRIER: [[#@LINE+1]]:5: error[{{.*}}]: a barrier of a device_mesh of flat=4, whose axis 'flat' is none of the launch mesh
    tle.distributed_barrier(PLANE[0].flatten().reshape(2, 2).flatten())
    # BARRIER: [[#@LINE+1]]:5: error[{{.*}}]: a device_mesh of block=4, cluster_x=2, cluster_y=4 is larger than the cluster of 8 CTAs
    tle.distributed_barrier(MIXED)
    # BARRIER: [[#@LINE+1]]:5: error[{{.*}}]: a kernel with clusters cannot have a barrier of the grid
    tle.distributed_barrier(GRID)
    # BARRIER: [[#@LINE+1]]:5: error[{{.*}}]: only a barrier of the whole cluster has halves and orders
    tle.distributed_barrier(PLANE[0], barrier_kind="arrive")
    # BARRIER: [[#@LINE+1]]:5: error[{{.*}}]: a barrier of space the string 'device' is not available on this target
    tle.distributed_barrier(space="device")
    # BARRIER-NOT: error


@triton.jit
def grid_first(out):
    tle.distributed_barrier(GRID)
    # GRID: [[#@LINE+1]]:5: error[{{.*}}]: a kernel with a barrier of the grid cannot have clusters
    tle.shard_id(PLANE, 0)
