# RUN: %tlec --kernel algebra --sig 'out:*i32' --emit=tir --passes= %s
# RUN: %tlec --kernel spellings --sig 'out:*i32' --const 'mesh=@FLAT' --emit=tir --passes= %s | %filecheck %s --check-prefix=RANK
# RUN: %tlec --kernel axes --sig 'out:*i32' --emit=tir --passes= %s | %filecheck %s --check-prefix=AXES
# Meshes as FlagTree makes them, under the three spellings of the import; coordinates of the rank.
import triton
import triton.experimental.tle as tled
import triton.experimental.tle.language as tle
import triton.language as tl
from triton.experimental.tle.language import device_mesh

CUBE = tled.device_mesh({"node": [("rack", 2)], "block_cluster": [("cluster_x", 2), ("cluster_y", 4)]})
PLANE = device_mesh({"block_cluster": [("cluster_x", 2), ("cluster_y", 4)]})
FLAT = tle.device_mesh(tle.MeshConfig(block_cluster=8))
DEEP = tle.device_mesh({"block": [("a", 2), ("b", 2), ("block_c", 2)], "x": 1})


@triton.jit
def algebra(out):
    tl.static_assert(CUBE.shape == (2, 2, 4))
    tl.static_assert(CUBE.ndim == 3 and CUBE.size == 16)
    tl.static_assert(CUBE.dim_names == ("rack", "cluster_x", "cluster_y"))
    tl.static_assert(FLAT.dim_names == ("block_cluster",))
    tl.static_assert(CUBE[1].physical_ids == (8, 9, 10, 11, 12, 13, 14, 15))
    tl.static_assert(CUBE[1].dim_names == ("cluster_x", "cluster_y"))
    tl.static_assert(CUBE[1].launch_shape == (2, 2, 4))
    tl.static_assert(CUBE[..., 1:3].shape == (2, 2, 2))
    tl.static_assert(CUBE[..., 1:3].physical_ids == (1, 2, 5, 6, 9, 10, 13, 14))
    tl.static_assert(CUBE[0, -1, ::-1].physical_ids == (7, 6, 5, 4))
    tl.static_assert(CUBE[0, :, -3::2].physical_ids == (1, 3, 5, 7))
    tl.static_assert(CUBE[0, 1, 2].shape == () and CUBE[0, 1, 2].physical_ids == (6,))
    tl.static_assert(PLANE.flatten().shape == (8,) and PLANE.flatten().dim_names == ("flat",))
    tl.static_assert(PLANE.reshape(4, 2).dim_names == ("cluster_x", "cluster_y"))
    tl.static_assert(PLANE.reshape((2, 2, 2)).dim_names == ("dim0", "dim1", "dim2"))
    tl.static_assert(PLANE[1].flatten().physical_ids == (4, 5, 6, 7))
    tl.static_assert(PLANE.flatten().launch_dim_names == ("cluster_x", "cluster_y"))


# RANK: func @spellings({{.*}}) [num_warps = 4, cluster = [8, 1, 1]]
# RANK-NEXT: cluster_rank : i32
# RANK-NEXT: store
@triton.jit
def spellings(out, mesh: tl.constexpr):
    tl.store(out, tled.shard_id(mesh, "block_cluster"))


# Row-major over the launch mesh: rank / 4, rank % 4.
# AXES: func @axes({{.*}}) [num_warps = 4, cluster = [2, 4, 1]]
# AXES: [[R:%[0-9]+]] = cluster_rank
# AXES-NEXT: [[C:%[0-9]+]] = const 4
# AXES-NEXT: udiv [[R]], [[C]]
# AXES: [[S:%[0-9]+]] = cluster_rank
# AXES-NEXT: [[D:%[0-9]+]] = const 4
# AXES-NEXT: urem [[S]], [[D]]
@triton.jit
def axes(out):
    tl.store(out, tle.shard_id(PLANE, "cluster_x"))
    tl.store(out + 1, tle.shard_id(PLANE, -1))
