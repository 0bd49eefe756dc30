/* Device meshes: host objects that name the CTAs of a cluster or of the grid. They exist at compile
 * time only and are immutable; sub-meshes and other shapes are new ones. */
#ifndef SEMA_SEMA_MESH_H
#define SEMA_SEMA_MESH_H

#include "sema/sema_impl.h"

enum { MESH_MAX_DIMS = 16, MESH_MAX_SIZE = 1 << 16, MESH_MAX_CLUSTER = 16 };
enum { MESH_FIRST_SM = 90 }; /* the first with clusters */

typedef struct SMeshDims {
    uint32_t len;
    int64_t size[MESH_MAX_DIMS];
    Str name[MESH_MAX_DIMS];
} SMeshDims;

struct SMesh {
    SMeshDims dims;   /* of this view */
    SMeshDims launch; /* of the mesh that it was cut from */
    uint32_t count;
    const int64_t *ids; /* of its members, row-major; places in the launch mesh */
};

SVal sv_mesh(const SMesh *mesh);
bool arg_mesh(Sema *s, SVal x, const char *name, Span at, const SMesh **out);
int64_t mesh_size(const SMeshDims *d);
/* Whether a dimension's name contains the text. */
bool mesh_names(Sema *s, const SMeshDims *d, const char *part);
/* mesh[...]; diagnoses. */
SVal mesh_subscript(Sema *s, SVal mesh, SVal key, Span at);
/* .shape and the like; false when there is no such attribute. */
bool mesh_attribute(Sema *s, SVal mesh, const char *name, SVal *out);
const char *mesh_text(Sema *s, const SMesh *mesh);

#endif
