/* Runs a program on the emulator. */
#include "machine.h"
#include <string.h>

tle_emu_status diff_emulate(tle_emu_device *device, const DiffProgram *p, uint8_t *in,
                            uint8_t *out) {
    tle_emu_module *module = NULL;
    tle_emu_launch_config c = {
        .struct_size = sizeof c, .grid = {p->grid, 1, 1}, .block = {p->block, 1, 1}};
    uint32_t trips = DIFF_TRIPS;
    diff_input(p, in);
    diff_output_init(p, out);
    tle_emu_status s = tle_emu_module_load(device, p->text, p->length, "program", &module);
    if (s != TLE_EMU_OK)
        return s;
    tle_emu_register(device, in, DIFF_INPUT_BYTES, 1);
    tle_emu_register(device, out, p->out_bytes, 0);
    s = tle_emu_launch(device, tle_emu_module_kernel_at(module, 0), &c,
                       (void *[]){&in, &out, &trips});
    tle_emu_unregister(device, in);
    tle_emu_unregister(device, out);
    tle_emu_module_unload(module);
    return s;
}
