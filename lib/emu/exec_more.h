/* Shared by the decoder and the handlers of video instructions and later additions to PTX. */
#ifndef EMU_EXEC_MORE_H
#define EMU_EXEC_MORE_H

#include "exec.h"

#define VIDEO_WHOLE 7u /* selector: all 32 bits */

typedef enum VideoOp {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_ABSDIFF,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_SHL,
    VIDEO_SHR,
    VIDEO_SET,
    VIDEO_AVERAGE,
    VIDEO_MAD
} VideoOp;

enum { VIDEO_MINUS_PRODUCT = 1, VIDEO_MINUS_C = 2, VIDEO_PLUS_ONE = 4 }; /* of vmad */
enum { MIXED_ADD, MIXED_SUB, MIXED_FMA };

ExecFn x_video, x_video_parts, x_video_mad, x_cvt_pack_int, x_mixed, x_minmax3, x_fma_oob;
ExecFn x_alloca, x_stacksave, x_stackrestore, x_assert;

#endif
