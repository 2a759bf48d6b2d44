#include "bnsweep/measure/variables.h"

const struct variable variables_table[VARIABLE_COUNT] = {
#define X(name, group, dims, units, long_name) {#name, GROUP_##group, DIMS_##dims, units, long_name},
    VARIABLES(X)
#undef X
};

bool variables_kept(enum variable_group group)
{
    return group == GROUP_STEP || group == GROUP_WEIGHTS;
}

bool variables_double(enum variable_group group)
{
    return group == GROUP_STEP;
}

size_t variables_size(enum variable_id id, const struct variables_extent *extent)
{
    switch (variables_table[id].dims) {
    case DIMS_NONE: return 1;
    case DIMS_CHANNEL: return extent->channels;
    case DIMS_LAYER: return extent->layers;
    case DIMS_REEST: return extent->reests;
    case DIMS_ORDER_K: return extent->orders * extent->ks;
    case DIMS_EMA: return extent->emas;
    case DIMS_PARAMETER: return extent->parameters;
    }
    return 0;
}

size_t variables_offset(enum variable_id id, const struct variables_extent *extent)
{
    size_t offset = 0;
    for (int other = 0; other < (int)id; other++)
        if (variables_table[other].group == variables_table[id].group)
            offset += variables_size((enum variable_id)other, extent);
    return offset;
}

size_t variables_record_size(enum variable_group group, const struct variables_extent *extent)
{
    size_t size = 0;
    for (int id = 0; id < VARIABLE_COUNT; id++)
        if (variables_table[id].group == group)
            size += variables_size((enum variable_id)id, extent);
    return size;
}

size_t variables_record_count(enum variable_group group, const struct variables_extent *extent)
{
    switch (group) {
    case GROUP_UNIT: return 1;
    case GROUP_CHECK: return extent->checks;
    case GROUP_TRACE: return extent->samples;
    case GROUP_STEP: return extent->steps;
    case GROUP_WEIGHTS: return extent->parameters ? extent->checks : 0;
    case GROUP_COUNT: break;
    }
    return 0;
}
