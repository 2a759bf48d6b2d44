#include "outlook_text.h"

#include "geometry.h"

#include "bnsweep/core/engine.h"
#include "bnsweep/sweep/settings_text.h"

#include <stdio.h>
#include <string.h>

enum { FEW_VALUES = 10, SHOWN_VALUES = 4, FEW_UNITS = 40, SHOWN_UNITS = 8 };

static void format_seconds(double seconds, char out[32])
{
    if (seconds < 99.5)
        snprintf(out, 32, "%.*f s", seconds < 9.95 ? 1 : 0, seconds);
    else if (seconds < 5970)
        snprintf(out, 32, "%.0f min", seconds / 60);
    else if (seconds < 172800)
        snprintf(out, 32, "%.1f h", seconds / 3600);
    else
        snprintf(out, 32, "%.1f days", seconds / 86400);
}

static void format_bytes(double bytes, char out[32])
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    int unit = 0;
    for (; bytes >= 1000 && unit < 4; unit++)
        bytes /= 1000;
    snprintf(out, 32, "%.*f %s", unit && bytes < 99.5 ? 1 : 0, bytes, units[unit]);
}

/* One value by itself; of many the first and the last. */
static void print_axis(const struct axis *axis)
{
    char value[SETTINGS_VALUE_SIZE];
    printf("%s = ", settings_table[axis->key].key);
    for (size_t i = 0; i < axis->count; i++) {
        if (axis->count > FEW_VALUES && i == SHOWN_VALUES) {
            printf(", ...");
            i = axis->count - 1;
        }
        axis_format(axis, i, value);
        printf("%s%s", i ? ", " : "", value);
    }
    if (axis->count > FEW_VALUES)
        printf(" (%zu values)", axis->count);
}

static void print_arms(const struct grid *grid)
{
    int width = 0;
    for (size_t a = 0; a < grid->arm_count; a++) {
        int length = (int)strlen(grid->arms[a].name);
        width = length > width ? length : width;
    }
    printf("arms\n");
    for (size_t a = 0; a < grid->arm_count; a++) {
        const struct grid_arm *arm = &grid->arms[a];
        printf("  %-*s  %zu unit%s", width, arm->name, arm->count, arm->count == 1 ? "" : "s");
        for (size_t i = 0; i < arm->axis_count; i++) {
            printf("%s", i ? "; " : ": ");
            print_axis(&grid->entries[arm->axes[i]].axis);
        }
        printf("\n");
    }
}

static void print_store(const struct outlook *o)
{
    char size[32];
    format_bytes((double)o->preview.bytes, size);
    printf("store    %s: ", *o->preview.path ? o->preview.path : o->request.store);
    if (o->refused)
        printf("a run would be refused: %s\n", o->refusal);
    else if (!o->preview.exists)
        printf("not there yet\n");
    else
        printf("%llu units, %s\n", (unsigned long long)o->preview.rows, size);
    if (o->writer.state == LOCK_HELD)
        printf("         a run is writing it now (%s): another one has to wait\n", o->writer.text);
}

static void print_states(const struct outlook *o)
{
    printf("units    %zu\n", o->sweep.unit_count);
    for (int state = 0; state < OUTLOOK_STATE_COUNT; state++)
        if (o->counts[state])
            printf("  %8zu  %-11s  %s\n", o->counts[state], outlook_state_names[state], outlook_state_meanings[state]);
    if (o->extra)
        printf("  %8llu  %-11s  in the store, not asked for by this sweep file: they stay\n", (unsigned long long)o->extra, "extra");
}

static void print_training(const struct outlook *o)
{
    if (!o->to_train) {
        printf("train    nothing\n");
        return;
    }
    size_t units = o->to_train - o->replayed_units, trajectories = o->grouping.count - o->sources.found;
    if (o->sources.found)
        printf("replay   %zu unit%s in %zu trajector%s, from batch statistics in the store: not trained\n", o->replayed_units,
               o->replayed_units == 1 ? "" : "s", o->sources.found, o->sources.found == 1 ? "y" : "ies");
    if (o->sources.refusal[0])
        printf("replay   nothing: %s\n", o->sources.refusal);
    if (!units) {
        printf("train    nothing\n");
        return;
    }
    printf("train    %zu unit%s in %zu trajector%s", units, units == 1 ? "" : "s", trajectories, trajectories == 1 ? "y" : "ies");
    if (o->fused_units)
        printf("; %zu units share theirs with others that differ in bn_momentum alone", o->fused_units);
    printf("\n");
    for (int reason = 0; reason < OUTLOOK_APART_COUNT; reason++)
        if (o->apart[reason])
            printf("         %zu units have one each: %s\n", o->apart[reason], outlook_apart_texts[reason]);
    if (o->again)
        printf("         %zu of the trajectories are in the store with other momenta already: for %zu units with a new bn_momentum "
               "they are trained again\n", o->again, o->again_units);
    if (o->saved)
        printf("         %zu go%s on from a saved state\n", o->saved, o->saved == 1 ? "es" : "");
    if (o->unused_states)
        printf("         %zu saved state%s in %s.state belong%s to none of them\n", o->unused_states, o->unused_states == 1 ? "" : "s",
               o->preview.path, o->unused_states == 1 ? "s" : "");
}

static void print_cost(const struct outlook *o)
{
    char seconds[32], most[32], work[32], size[32];
    if (o->to_train && o->unestimated) {
        printf("time     not known: %s\n", o->estimate_message);
    } else if (o->to_train) {
        const struct estimate *e = &o->estimate;
        format_seconds(e->seconds, seconds);
        format_seconds(e->seconds_most, most);
        format_seconds(e->work, work);
        printf("time     about %s", seconds);
        if (e->seconds_most > e->seconds)
            printf(", up to %s if every check fails,", most);
        printf(" with %zu worker%s (%s of work, from a measurement here, with a core for each worker)\n", o->request.workers,
               o->request.workers == 1 ? "" : "s", work);
    }
    format_bytes((double)o->store_bytes, size);
    printf("size     about %s when all is done", size);
    if (o->keepers) {
        format_bytes((double)o->kept_bytes, size);
        printf("; of that, batch statistics and weights of %zu trajector%s, %s each", o->keepers, o->keepers == 1 ? "y" : "ies", size);
    }
    printf("\n");
}

/* The settings a unit has from the axes. */
static void print_unit(const struct outlook *o, size_t unit)
{
    struct settings settings;
    const char *arm;
    char value[SETTINGS_VALUE_SIZE];
    if (sweep_unit(&o->sweep, unit, &settings, &arm))
        return;
    printf("  %8zu  %-11s  %s", unit, outlook_state_names[o->states[unit]], arm);
    for (size_t i = 0; i < o->sweep.axis_count; i++) {
        int key = o->sweep.axes[i].key;
        if (!settings_relevant(&settings, key))
            continue;
        settings_text_format(&settings, key, value);
        printf(", %s = %s", settings_table[key].key, value);
    }
    printf("\n");
}

static void print_units(const struct outlook *o)
{
    size_t count = o->sweep.unit_count;
    printf("list\n");
    for (size_t i = 0; i < count; i++) {
        if (count > FEW_UNITS && i == SHOWN_UNITS) {
            printf("       ...  (--json has them all)\n");
            i = count - SHOWN_UNITS;
        }
        print_unit(o, i);
    }
}

enum status outlook_text_print(const struct outlook *o)
{
    char channels[SETTINGS_VALUE_SIZE];
    const char *method[NET_MAX_BLOCKS];
    settings_text_format(&o->sweep.grid.arms[0].base, SETTING_channels, channels);
    printf("sweep    %s, from %s\n", o->sweep.name, o->request.file);
    printf("network  %s; convolutions by the engine \"%s\"", channels, engine_name());
    size_t blocks = geometry_methods(&o->sweep.grid.arms[0].base, method);
    for (size_t i = 0; i < blocks; i++)
        printf("%s %s", i ? "," : ":", method[i]);
    putchar('\n');
    print_store(o);
    print_arms(&o->sweep.grid);
    if (o->refused)
        return STATUS_OK;
    print_states(o);
    print_training(o);
    print_cost(o);
    print_units(o);
    return STATUS_OK;
}
