#include "bench_report.h"

#include "bench_settings.h"
#include "peak.h"
#include "origin/provenance.h"

#include "bnsweep/sweep/settings_text.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *key, *text;
} checks[BENCH_CHECK_COUNT] = {
#define X(name, key, text) {key, text},
    BENCH_CHECK(X)
#undef X
};

static double conv_operations(const struct net *net, size_t block)
{
    const struct conv_shape *conv = &net->block[block].conv;
    return 2 * (double)conv->h * (double)conv->w * CONV_TAPS * (double)conv->cin * (double)conv->cout;
}

/* Of a step: forward, and twice that backward; nobody needs the gradient of the images. */
static double step_operations(const struct bench_report *r)
{
    return (double)r->settings->batch * (6 * net_multiply_adds(r->net) - conv_operations(r->net, 0));
}

/* Milliseconds a step of what was summed over the steps. */
static double per_step(const struct bench_report *r, double seconds)
{
    return 1e3 * seconds / (double)r->phases.steps;
}

/* Operations a second of one convolution; 0 where it did not run. */
static double conv_rate(const struct bench_report *r, size_t block, enum phase_conv what)
{
    double seconds = r->phases.conv[block][what];
    double operations = (double)r->settings->batch * conv_operations(r->net, block) * (double)r->phases.steps;
    return seconds > 0 ? operations / seconds : 0;
}

static double check_seconds(const struct bench_report *r)
{
    double sum = 0;
    for (int i = 0; i < BENCH_CHECK_COUNT; i++)
        sum += r->check[i].median;
    return sum;
}

static json_t *spread(struct stopwatch_spread s)
{
    return json_pack("{s:f, s:f, s:f}", "median", 1e3 * s.median, "min", 1e3 * s.least, "max", 1e3 * s.most);
}

static json_t *settings(const struct bench_report *r)
{
    json_t *out = json_object();
    for (int key = 0; key < SETTINGS_COUNT; key++) {
        char value[SETTINGS_VALUE_SIZE];
        if (!bench_settings_shown(r->settings, key))
            continue;
        settings_text_format(r->settings, key, value);
        json_object_set_new(out, settings_table[key].key, json_string(value));
    }
    return out;
}

static json_t *program(void)
{
    size_t count;
    const struct provenance_row *rows = provenance_rows(&count);
    json_t *out = json_object();
    for (size_t i = 0; i < count; i++)
        json_object_set_new(out, rows[i].name, json_string(rows[i].text));
    return out;
}

static json_t *phases(const struct bench_report *r)
{
    json_t *parts = json_array();
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        json_array_append_new(parts, json_pack("{s:s, s:f}", "phase", phases_table[phase].key, "ms",
                                               per_step(r, r->phases.seconds[phase])));
    return json_pack("{s:o, s:f, s:f}", "parts", parts, "rest_ms", per_step(r, phases_rest(&r->phases)), "whole_ms",
                     per_step(r, r->phases.whole));
}

static json_t *convolutions(const struct bench_report *r)
{
    json_t *out = json_array();
    for (size_t i = 0; i < r->net->config.blocks; i++)
        for (int what = 0; what < PHASE_CONV_COUNT; what++)
            json_array_append_new(
                out, json_pack("{s:I, s:s, s:f, s:f}", "block", (json_int_t)i + 1, "what", phases_conv_keys[what], "ms",
                               per_step(r, r->phases.conv[i][what]), "gflops", 1e-9 * conv_rate(r, i, (enum phase_conv)what)));
    return out;
}

static json_t *check(const struct bench_report *r)
{
    json_t *out = json_pack("{s:I, s:I, s:f}", "images", (json_int_t)r->settings->val_size, "checks", (json_int_t)r->checks,
                            "cpu_ms", 1e3 * check_seconds(r));
    for (int i = 0; i < BENCH_CHECK_COUNT; i++)
        json_object_set_new(out, checks[i].key, spread(r->check[i]));
    return out;
}

enum status bench_report_json(const struct bench_report *r)
{
    double operations = step_operations(r), rate = operations / r->cpu.median;
    json_t *out = json_pack(
        "{s:o, s:s, s:o, s:{s:I, s:o, s:o, s:f, s:f, s:f}, s:o, s:o, s:o, s:{s:s, s:f, s:f, s:I}, s:f}", "settings", settings(r),
        "engine", r->net->engine->name, "program", program(), "step", "steps", (json_int_t)r->steps, "cpu_ms", spread(r->cpu),
        "wall_ms", spread(r->wall), "gflop", 1e-9 * operations, "gflops", 1e-9 * rate, "share_of_peak", rate / r->fma, "phases",
        phases(r), "convolutions", convolutions(r), "check", check(r), "machine", "fma_instructions", peak_instructions(),
        "fma_gflops", 1e-9 * r->fma, "triad_gbytes", 1e-9 * r->triad, "triad_array_bytes", (json_int_t)PEAK_TRIAD_ARRAY,
        "memory_mbytes", 1e-6 * r->memory);
    int failed = out ? json_dumpf(out, stdout, JSON_INDENT(1)) : -1;
    json_decref(out);
    printf("\n");
    return !failed || ferror(stdout) ? STATUS_OK : status_fail(STATUS_NOMEM, "could not write JSON"); /* main sees to stdout */
}

static void print_program(const struct bench_report *r)
{
    static const char *const shown[] = {"engine", "blas", "instruction_set", "compiler", "compiler_flags"};
    const char *separator = "";
    size_t count;
    const struct provenance_row *rows = provenance_rows(&count);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        for (size_t j = 0; j < count; j++)
            if (strcmp(rows[j].name, shown[i]) == 0)
                printf("%-16s %s\n", rows[j].name, rows[j].text);
    printf("%-16s ", "settings");
    for (int key = 0; key < SETTINGS_COUNT; key++) {
        char value[SETTINGS_VALUE_SIZE];
        if (!bench_settings_shown(r->settings, key))
            continue;
        settings_text_format(r->settings, key, value);
        printf("%s%s = %s", separator, settings_table[key].key, value);
        separator = ", ";
    }
    printf("\n%-16s %.1f GFLOP/s multiply-adds from registers (%s), %.1f GB/s triad\n", "one core", 1e-9 * r->fma, peak_instructions(),
           1e-9 * r->triad);
    printf("%-16s %.0f MB resident at most\n", "memory", 1e-6 * r->memory);
}

static void print_spread(const char *name, struct stopwatch_spread s)
{
    printf("%-38s %10.3f %10.3f %10.3f\n", name, 1e3 * s.median, 1e3 * s.least, 1e3 * s.most);
}

static void print_step(const struct bench_report *r)
{
    char title[64];
    double operations = step_operations(r), rate = operations / r->cpu.median;
    snprintf(title, sizeof title, "a training step, ms (%zu steps)", r->steps);
    printf("\n%-38s %10s %10s %10s\n", title, "median", "min", "max");
    print_spread("processor time", r->cpu);
    print_spread("wall time", r->wall);
    printf("%.4g GFLOP in convolutions and classifier: %.1f GFLOP/s, %.0f%% of the core's peak\n", 1e-9 * operations, 1e-9 * rate,
           100 * rate / r->fma);
}

static void print_part(const struct bench_report *r, const char *name, double seconds)
{
    printf("%-38s %10.3f %9.1f%%\n", name, per_step(r, seconds), 100 * seconds / r->phases.whole);
}

static void print_phases(const struct bench_report *r)
{
    printf("\n%-38s %10s %10s\n", "its phases, processor time", "mean ms", "share");
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        double conv = phases_conv_seconds(&r->phases, (enum phase)phase);
        print_part(r, phases_table[phase].text, r->phases.seconds[phase]);
        if (phase != PHASE_FORWARD && phase != PHASE_BACKWARD)
            continue;
        print_part(r, "  its convolutions", conv);
        print_part(r, "  norm, ReLU, pool, classifier", r->phases.seconds[phase] - conv);
    }
    print_part(r, "rest", phases_rest(&r->phases));
    print_part(r, "whole", r->phases.whole);
}

static void print_convolutions(const struct bench_report *r)
{
    printf("\n%-38s %10s %10s\n", "its convolutions", "mean ms", "GFLOP/s");
    for (size_t i = 0; i < r->net->config.blocks; i++)
        for (int what = 0; what < PHASE_CONV_COUNT; what++) {
            char name[64];
            const struct conv_shape *conv = &r->net->block[i].conv;
            if (!(r->phases.conv[i][what] > 0))
                continue;
            snprintf(name, sizeof name, "%zux%zu, %zu to %zu, %s", conv->h, conv->w, conv->cin, conv->cout, phases_conv_keys[what]);
            printf("%-38s %10.3f %10.1f\n", name, per_step(r, r->phases.conv[i][what]),
                   1e-9 * conv_rate(r, i, (enum phase_conv)what));
        }
}

void bench_report_text(const struct bench_report *r)
{
    char title[64];
    print_program(r);
    print_step(r);
    print_phases(r);
    print_convolutions(r);
    snprintf(title, sizeof title, "a check of %lld images, ms", (long long)r->settings->val_size);
    printf("\n%-38s %10s %10s %10s\n", title, "median", "min", "max");
    for (int i = 0; i < BENCH_CHECK_COUNT; i++)
        print_spread(checks[i].text, r->check[i]);
}
