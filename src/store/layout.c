#include "bnsweep/store/layout.h"

#include <stdio.h>
#include <string.h>

const struct layout_axis_info layout_axes_table[AXIS_COUNT] = {
#define X(upper, name, type, units, long_name) {#name, LAYOUT_##type, units, long_name},
    LAYOUT_AXES(X)
#undef X
};

const struct layout_column layout_columns_table[COLUMN_COUNT] = {
#define X(name, type, units, long_name) {#name, LAYOUT_##type, units, long_name},
    LAYOUT_COLUMNS(X)
#undef X
};

static bool is_taken(const char *name)
{
    for (int id = 0; id < VARIABLE_COUNT; id++)
        if (strcmp(variables_table[id].name, name) == 0)
            return true;
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        if (strcmp(layout_axes_table[axis].name, name) == 0)
            return true;
    return strcmp(name, "channel_layer") == 0 || strcmp(name, "channel_index") == 0;
}

void layout_column_name(const char *name, char out[LAYOUT_NAME_SIZE])
{
    snprintf(out, LAYOUT_NAME_SIZE, "%s%s", name, is_taken(name) ? "_setting" : "");
}

const char *layout_status_name(int64_t status)
{
    switch (status) {
#define X(name, number, text) \
    case number: return text;
        UNIT_STATUS_LIST(X)
#undef X
    default: return "unknown";
    }
}

size_t layout_length(const struct variables_extent *extent, enum layout_axis axis)
{
    switch (axis) {
    case AXIS_CHECK: return extent->checks;
    case AXIS_SAMPLE: return extent->samples;
    case AXIS_CHANNEL: return extent->channels;
    case AXIS_LAYER: return extent->layers;
    case AXIS_REEST: return extent->reests;
    case AXIS_ORDER: return extent->orders;
    case AXIS_K: return extent->ks;
    case AXIS_EMA: return extent->emas;
    case AXIS_STEP: return extent->steps;
    case AXIS_PARAMETER: return extent->parameters;
    case AXIS_UNIT:
    case AXIS_COUNT: break;
    }
    return 0;
}

int layout_variable_axes(enum variable_id id, enum layout_axis axes[LAYOUT_MAX_RANK])
{
    int rank = 0;
    axes[rank++] = AXIS_UNIT;
    switch (variables_table[id].group) {
    case GROUP_CHECK:
    case GROUP_WEIGHTS: axes[rank++] = AXIS_CHECK; break;
    case GROUP_TRACE: axes[rank++] = AXIS_SAMPLE; break;
    case GROUP_STEP: axes[rank++] = AXIS_STEP; break;
    case GROUP_UNIT:
    case GROUP_COUNT: break;
    }
    switch (variables_table[id].dims) {
    case DIMS_NONE: break;
    case DIMS_CHANNEL: axes[rank++] = AXIS_CHANNEL; break;
    case DIMS_LAYER: axes[rank++] = AXIS_LAYER; break;
    case DIMS_REEST: axes[rank++] = AXIS_REEST; break;
    case DIMS_ORDER_K:
        axes[rank++] = AXIS_ORDER;
        axes[rank++] = AXIS_K;
        break;
    case DIMS_EMA: axes[rank++] = AXIS_EMA; break;
    case DIMS_PARAMETER: axes[rank++] = AXIS_PARAMETER; break;
    }
    return rank;
}

bool layout_has_variable(enum variable_id id, const struct variables_extent *extent)
{
    return variables_size(id, extent) > 0 && variables_record_count(variables_table[id].group, extent) > 0;
}

const void *layout_coordinate(const struct layout *layout, enum layout_axis axis)
{
    switch (axis) {
    case AXIS_CHECK: return layout->checks;
    case AXIS_SAMPLE: return layout->samples;
    case AXIS_LAYER: return layout->layers;
    case AXIS_REEST: return layout->reests;
    case AXIS_ORDER: return layout->orders;
    case AXIS_K: return layout->ks;
    case AXIS_EMA: return layout->emas;
    case AXIS_STEP: return layout->steps;
    case AXIS_PARAMETER: return layout->parameters;
    case AXIS_UNIT:
    case AXIS_CHANNEL:
    case AXIS_COUNT: break;
    }
    return NULL;
}
