#include "outlook_json.h"

#include "geometry.h"

#include "bnsweep/core/engine.h"
#include "bnsweep/sweep/settings_text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static json_t *integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* Numbers as numbers, everything else as its text. */
static json_t *typed(int key, const char *text)
{
    switch (settings_table[key].type) {
    case SETTINGS_TYPE_INT: return json_integer(strtoll(text, NULL, 10));
    case SETTINGS_TYPE_REAL: return json_real(strtod(text, NULL));
    default: return json_string(text);
    }
}

static json_t *axes(const struct grid *grid, const struct grid_arm *arm)
{
    json_t *out = json_object();
    for (size_t a = 0; a < arm->axis_count; a++) {
        const struct axis *axis = &grid->entries[arm->axes[a]].axis;
        json_t *values = json_array();
        for (size_t i = 0; i < axis->count; i++) {
            char value[SETTINGS_VALUE_SIZE];
            axis_format(axis, i, value);
            json_array_append_new(values, typed(axis->key, value));
        }
        json_object_set_new(out, settings_table[axis->key].key, values);
    }
    return out;
}

static json_t *arms(const struct grid *grid)
{
    json_t *out = json_array();
    for (size_t a = 0; a < grid->arm_count; a++) {
        const struct grid_arm *arm = &grid->arms[a];
        json_array_append_new(out, json_pack("{s:s, s:o, s:o}", "name", arm->name, "units", integer(arm->count), "axes", axes(grid, arm)));
    }
    return out;
}

static json_t *store(const struct outlook *o)
{
    json_t *out = json_object(), *extra = json_object();
    json_object_set_new(out, "path", json_string(o->preview.path));
    json_object_set_new(out, "exists", json_boolean(o->preview.exists));
    json_object_set_new(out, "refused", o->refused ? json_string(o->refusal) : json_null());
    json_object_set_new(out, "writer", o->writer.state == LOCK_HELD ? json_string(o->writer.text) : json_null());
    json_object_set_new(out, "units", integer(o->preview.rows));
    json_object_set_new(out, "bytes", integer(o->preview.bytes));
    json_object_set_new(out, "bytes_at_end", o->refused ? json_null() : integer(o->store_bytes));
    json_object_set_new(out, "kept_trajectories", o->refused ? json_null() : integer(o->keepers));
    json_object_set_new(out, "kept_bytes_each", o->refused ? json_null() : integer(o->kept_bytes));
    for (int state = 0; state < UNIT_STATUS_COUNT; state++)
        if (o->preview.extra[state])
            json_object_set_new(extra, layout_status_name(state), integer(o->preview.extra[state]));
    json_object_set_new(out, "extra", extra);
    return out;
}

static json_t *states(const struct outlook *o)
{
    json_t *out = json_object();
    for (int state = 0; state < OUTLOOK_STATE_COUNT; state++)
        json_object_set_new(out, outlook_state_names[state], integer(o->counts[state]));
    return out;
}

static json_t *training(const struct outlook *o)
{
    json_t *out = json_object(), *apart = json_object(), *sizes = json_array();
    for (int reason = 0; reason < OUTLOOK_APART_COUNT; reason++)
        if (o->apart[reason])
            json_object_set_new(apart, outlook_apart_texts[reason], integer(o->apart[reason]));
    for (size_t t = 0; t < o->grouping.count; t++)
        json_array_append_new(sizes, o->unestimated ? json_null() : json_real(o->seconds[t]));
    json_object_set_new(out, "units", integer(o->to_train));
    json_object_set_new(out, "trajectories", integer(o->grouping.count));
    json_object_set_new(out, "trajectories_replayed", integer(o->sources.found));
    json_object_set_new(out, "units_replayed", integer(o->replayed_units));
    json_object_set_new(out, "replay_refused", o->sources.refusal[0] ? json_string(o->sources.refusal) : json_null());
    json_object_set_new(out, "units_fused", integer(o->fused_units));
    json_object_set_new(out, "units_not_fused", apart);
    json_object_set_new(out, "trajectories_again", integer(o->again));
    json_object_set_new(out, "units_again", integer(o->again_units));
    json_object_set_new(out, "trajectories_saved", integer(o->saved));
    json_object_set_new(out, "saved_states_unused", integer(o->unused_states));
    json_object_set_new(out, "seconds", sizes);
    return out;
}

static json_t *estimate(const struct outlook *o)
{
    const struct estimate *e = &o->estimate;
    if (o->unestimated)
        return json_pack("{s:o, s:s}", "workers", integer(o->request.workers), "unknown", o->estimate_message);
    return json_pack("{s:o, s:f, s:f, s:f, s:f}", "workers", integer(o->request.workers), "seconds", e->seconds, "seconds_if_all_fail",
                     e->seconds_most, "work_seconds", e->work, "work_seconds_if_all_fail", e->work_most);
}

/* How each convolution is computed; empty where that is not known. */
static json_t *convolutions(const struct settings *settings)
{
    const char *method[NET_MAX_BLOCKS];
    json_t *out = json_array();
    size_t blocks = geometry_methods(settings, method);
    for (size_t i = 0; i < blocks; i++)
        json_array_append_new(out, json_string(method[i]));
    return out;
}

/* All but the units, which can be many. */
static json_t *summary(const struct outlook *o)
{
    char channels[SETTINGS_VALUE_SIZE];
    settings_text_format(&o->sweep.grid.arms[0].base, SETTING_channels, channels);
    json_t *out = json_object();
    json_object_set_new(out, "sweep", json_string(o->sweep.name));
    json_object_set_new(out, "file", json_string(o->request.file));
    json_object_set_new(out, "channels", json_string(channels));
    json_object_set_new(out, "engine", json_string(engine_name()));
    json_object_set_new(out, "convolutions", convolutions(&o->sweep.grid.arms[0].base));
    json_object_set_new(out, "store", store(o));
    json_object_set_new(out, "arms", arms(&o->sweep.grid));
    json_object_set_new(out, "unit_count", integer(o->sweep.unit_count));
    if (o->refused)
        return out;
    json_object_set_new(out, "states", states(o));
    json_object_set_new(out, "train", training(o));
    json_object_set_new(out, "estimate", estimate(o));
    return out;
}

static json_t *unit(const struct outlook *o, size_t index)
{
    struct settings settings;
    const char *arm;
    char value[SETTINGS_VALUE_SIZE];
    if (sweep_unit(&o->sweep, index, &settings, &arm))
        return NULL;
    json_t *axis_values = json_object(), *trajectory = o->trajectory[index] == SIZE_MAX ? json_null() : integer(o->trajectory[index]);
    for (size_t i = 0; i < o->sweep.axis_count; i++) {
        int key = o->sweep.axes[i].key;
        if (!settings_relevant(&settings, key))
            continue;
        settings_text_format(&settings, key, value);
        json_object_set_new(axis_values, settings_table[key].key, typed(key, value));
    }
    return json_pack("{s:o, s:o, s:s, s:s, s:o, s:o}", "unit", integer(index), "row", integer(o->units[index].row), "arm", arm, "state",
                     outlook_state_names[o->states[index]], "trajectory", trajectory, "settings", axis_values);
}

static enum status print(json_t *value, size_t flags)
{
    int failed = value ? json_dumpf(value, stdout, flags) : -1;
    json_decref(value);
    return !failed || ferror(stdout) ? STATUS_OK : status_fail(STATUS_NOMEM, "could not write JSON"); /* main sees to stdout */
}

enum status outlook_json_print(const struct outlook *o)
{
    printf("{");
    enum status status = print(summary(o), JSON_EMBED | JSON_INDENT(1));
    printf(", \"units\": [");
    for (size_t i = 0; !status && !o->refused && i < o->sweep.unit_count; i++) {
        printf("%s\n  ", i ? "," : "");
        status = print(unit(o, i), JSON_COMPACT);
    }
    printf("]}\n");
    return status;
}
