/* One launch of any kernel on the emulator: PTX of a file or of a variant, arguments from words. */
#ifndef CLI_EMU_JOB_H
#define CLI_EMU_JOB_H

#include "cli/cli.h"
#include "cli/npy.h"

#include <tle/tle_emu.h>

enum { EMU_MAX_ARGS = 64 };

/* A word such as i32=5, f32=1.5, in=x.npy, out=y.npy:4x128:f4, zeros=4096, room=4096, null. */
typedef struct EmuArg {
    uint64_t value; /* as the parameter has it: a number, or an address of the device */
    size_t bytes;   /* of the parameter */
    NpyArray array; /* of in and out */
    const char *word;
    char *path; /* of out, else NULL */
    void *memory;
} EmuArg;

typedef struct EmuJob {
    char *ptx;
    size_t ptx_size;
    tle_emu_device *device;
    tle_emu_module *module;
    tle_emu_kernel *kernel;
    tle_emu_launch_config config;
    EmuArg args[EMU_MAX_ARGS];
    int arg_count;
    tle_emu_status status; /* of the launch */
} EmuJob;

/* Fills one argument and its memory on the device; an exit status after a message. */
int emu_arg_make(tle_emu_device *device, const char *word, EmuArg *arg);
/* Writes the file of an out argument. */
int emu_arg_write(const EmuArg *arg);
void emu_arg_free(EmuArg *arg);

/* Loads, makes the arguments, launches; the checks where the options name none. What the launch
 * itself found is in job->status and the device's reports. */
int emu_job_run(const Options *o, uint32_t checks, uint32_t cost, EmuJob *job);
void emu_job_free(EmuJob *job);

#endif
