/* frozen_maps.c: allocates the maps. */
#include "fit/frozen_maps.h"

bool frozen_make_maps(struct frozen *model, struct arena *arena, struct frozen_maps *m)
{
    const size_t n = model->n_parameters;
    model->slot_of = m->slot_of = arena_array(arena, n, sizeof *m->slot_of);
    model->place_of = m->place_of = arena_array(arena, model->n_data, sizeof *m->place_of);
    model->slot_template = m->slot_template = arena_array(arena, model->n_slots, sizeof *m->slot_template);
    model->place_template = m->place_template =
        arena_array(arena, model->n_places, sizeof *m->place_template);
    model->init = m->init = arena_array(arena, n, sizeof *m->init);
    model->lower = m->lower = arena_array(arena, n, sizeof *m->lower);
    model->upper = m->upper = arena_array(arena, n, sizeof *m->upper);
    model->width = m->width = arena_array(arena, n, sizeof *m->width);
    model->fixed = m->fixed = arena_array(arena, n, sizeof *m->fixed);
    model->data = m->data = arena_array(arena, model->n_data, sizeof *m->data);
    model->names = m->names = arena_array(arena, n, sizeof *m->names);
    return m->slot_of && m->place_of && m->slot_template && m->place_template && m->init && m->lower &&
           m->upper && m->width && m->fixed && m->data && m->names;
}
