# RUN: %not %tlec --kernel kernel --sig 'out:*i32' --target=sm_89 %s 2>&1 | %filecheck %s
# RUN: %tlec --kernel kernel --sig 'out:*i32' --target=sm_120a %s --emit=meta | %filecheck %s --check-prefix=NEW
import triton
import triton.language as tl
import triton.experimental.tle.language as tle

MESH = tle.device_mesh({"block_cluster": 2})


# NEW: "cluster":[2,1,1]
@triton.jit
def kernel(out):
    # CHECK: :[[@LINE+1]]:12: error[E0302]: clusters, which came with sm_90: the target is sm_89
    rank = tle.shard_id(MESH, 0)
    tl.store(out + rank, rank)
