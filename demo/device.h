/* Where the demo's arrays live: in the memory of a GPU, through the driver opened at run time, or
 * on the host, which the emulator reads as it is. */
#ifndef DEMO_DEVICE_H
#define DEMO_DEVICE_H

#include <stddef.h>
#include <tle/tle.h>

typedef struct Device Device;

/* Opens what a device of this kind needs. NULL with a sentence on stderr on failure. */
Device *device_open(const tle_device_info *info);
void device_close(Device *device);

/* Memory of the device, with the contents of `from` where it is not NULL. NULL on failure. */
void *device_alloc(Device *device, const void *from, size_t bytes);
void device_free(Device *device, void *memory);
int device_read(Device *device, void *to, const void *from, size_t bytes);
int device_wait(Device *device);

#endif
