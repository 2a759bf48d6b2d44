#include "calibrate.h"

#include "bnsweep/run/configure.h"
#include "bnsweep/run/trajectory.h"
#include "bnsweep/store/dataset.h"
#include "bnsweep/sweep/grouping.h"

#include <math.h>
#include <time.h>

/* A step of FLOPS_PER_SECOND * the time allowed takes, with the others that are timed, about that time on a slow core. */
#define FLOPS_PER_SECOND 12e9
enum { IMAGES = 32, PARTS = 6, MOST_REPEATS = 200 };

/* Settings of the same cost whose images are made, not read. */
static enum status without_files(const struct settings *settings, struct settings *out)
{
    struct dataset_shape shape;
    *out = *settings;
    if (settings->data != DATA_FILE)
        return STATUS_OK;
    enum status status = dataset_shape(settings->file, &shape);
    if (status)
        return status;
    out->data = DATA_TEMPLATES;
    out->image = lround(sqrt((double)shape.height * (double)shape.width));
    out->image_channels = (int64_t)shape.channels;
    out->classes = (int64_t)shape.classes;
    return STATUS_OK;
}

static double image_work(const struct settings *settings)
{
    return grouping_work(settings) / ((double)settings->batch * (double)settings->steps);
}

enum status calibrate_work(const struct settings *settings, double *out)
{
    struct settings made;
    enum status status = without_files(settings, &made);
    *out = status ? 0 : image_work(&made);
    return status;
}

/* Bytes of the images and labels that a training process reads into its memory. */
static enum status file_bytes(const struct settings *settings, size_t *out)
{
    struct dataset_shape shape;
    *out = 0;
    if (settings->data != DATA_FILE)
        return STATUS_OK;
    enum status status = dataset_shape(settings->file, &shape);
    size_t image = shape.channels * shape.height * shape.width * sizeof(float) + sizeof(int32_t);
    *out = status ? 0 : (shape.train_count + shape.val_count) * image;
    return status;
}

/* Make a step affordable, checks unreachable, and weights that hardly move. */
static void shorten(struct settings *settings, double seconds)
{
    double flops = 6 * image_work(settings), images = floor(FLOPS_PER_SECOND * seconds / flops);
    if (images < (double)settings->batch)
        settings->batch = images < 2 ? 2 : (int64_t)images;
    settings->steps = settings->first_check = settings->check_every = 1000000000;
    settings->angle_window = 1;
    settings->val_size = IMAGES;
    settings->probe_size = 2;
    settings->lr = 1e-6;
    settings->schedule = SCHEDULE_CONSTANT;
    settings->warmup = 0;
    settings->reest = settings->swap_layer = settings->swap_top = WHEN_NEVER;
}

static enum status ignore(void *context, size_t unit, enum variable_group group, uint32_t index, const double *values, size_t count)
{
    (void)context, (void)unit, (void)group, (void)index, (void)values, (void)count;
    return STATUS_OK;
}

static enum status forward(struct trajectory *t)
{
    struct running_mode mode = {.running = &t->running[0], .held = t->held, .step = (double)t->step};
    double loss;
    task_batch(&t->task, TASK_TRAIN, t->step, t->pass.x, t->pass.labels);
    return pass_forward(&t->pass, &mode, t->weights, &loss);
}

static enum status backward(struct trajectory *t)
{
    pass_backward(&t->pass, t->weights, t->gradient);
    return STATUS_OK;
}

static struct infer_set images(const struct trajectory *t)
{
    return (struct infer_set){IMAGES, t->task.val_x, t->task.val_y};
}

static enum status statistics(struct trajectory *t)
{
    struct running_mode mode = {.running = &t->running[0], .held = t->held, .step = (double)t->step};
    struct infer_set set = images(t);
    struct infer_score score;
    infer_statistics(&t->infer, &mode, t->weights, &set, &t->fresh, &t->mixed, &score);
    return STATUS_OK;
}

static enum status evaluate(struct trajectory *t)
{
    struct infer_set set = images(t);
    infer_evaluate(&t->infer, t->weights, &t->mixed, &set);
    return STATUS_OK;
}

/* Of this thread: what others do on the machine does not count. */
static double processor_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Take the mean time of one call, over as many as `seconds` hold and at least one. */
static enum status measure(struct trajectory *t, enum status (*work)(struct trajectory *t), double seconds, double *out)
{
    double started = processor_seconds(), spent = 0;
    int calls = 0;
    while (calls == 0 || (spent < seconds && calls < MOST_REPEATS)) {
        enum status status = work(t);
        if (status)
            return status;
        spent = processor_seconds() - started;
        calls++;
    }
    *out = spent / calls;
    return STATUS_OK;
}

static enum status measure_all(struct trajectory *t, double seconds, double work, struct calibrate_speed *out)
{
    double share = seconds / PARTS, batch = work * (double)t->pass.n, step = 0, set = work * IMAGES;
    enum status status = trajectory_step(t); /* touches the memory for the first time */
    if (!status)
        status = measure(t, trajectory_step, share, &step);
    if (!status)
        status = measure(t, forward, share, &out->forward);
    if (!status)
        status = measure(t, backward, share, &out->backward);
    if (!status)
        status = measure(t, statistics, share, &out->statistics);
    if (!status)
        status = measure(t, evaluate, share, &out->evaluate);
    out->step = fmax(0, step - out->forward - out->backward);
    out->forward /= batch;
    out->backward /= batch;
    out->statistics /= set;
    out->evaluate /= set;
    return status;
}

enum status calibrate_measure(const struct settings *settings, double seconds, struct calibrate_speed *out)
{
    const struct configure_files none = {0};
    const struct trajectory_sink sink = {NULL, ignore};
    struct settings made;
    struct trajectory_config config;
    struct trajectory *t = NULL;
    enum status status = without_files(settings, &made);
    if (status)
        return status;
    shorten(&made, seconds);
    settings_copy(&made, &(struct settings){.init = "default"}, SETTING_init);
    status = configure_trajectory(&made, 1, &made.bn_momentum, &none, &config);
    if (!status)
        status = trajectory_create(&t, &config, &sink);
    if (!status)
        status = measure_all(t, seconds, image_work(&made), out);
    trajectory_free(t);
    return status;
}

enum status calibrate_memory(const struct settings *settings, size_t momenta, size_t *out)
{
    const struct configure_files none = {0};
    const struct trajectory_sink sink = {NULL, ignore};
    struct settings made;
    struct trajectory_config config;
    struct trajectory *t = NULL;
    double values[TRAJECTORY_MAX_MOMENTA];
    for (size_t m = 0; m < TRAJECTORY_MAX_MOMENTA; m++)
        values[m] = settings->bn_momentum;
    enum status status = file_bytes(settings, out);
    if (!status)
        status = without_files(settings, &made);
    if (status)
        return status;
    settings_copy(&made, &(struct settings){.init = "default"}, SETTING_init);
    status = configure_trajectory(&made, momenta < TRAJECTORY_MAX_MOMENTA ? momenta : TRAJECTORY_MAX_MOMENTA, values, &none, &config);
    if (!status)
        status = trajectory_create(&t, &config, &sink);
    if (!status)
        *out += t->arena.bytes;
    trajectory_free(t);
    return status;
}
