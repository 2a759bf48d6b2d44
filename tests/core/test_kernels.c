/* The fused passes against the plain ones, for every norm and awkward geometries, with every engine that this processor can run. In double
 * they agree to rounding; in float as far as float's rounding allows, on sizes so small that no two candidates of a pool are near ties. */
#include "small_net.h"

#include "bnsweep/core/infer.h"

static double tolerance(void)
{
    return sizeof(real) == sizeof(double) ? 1e-11 : 2e-4;
}

struct variant {
    const char *name;
    size_t blocks, channels[3], image_channels, h, w, n;
    bool bias, held;
};

/* Sizes: odd, of one tile, beyond a group of tiles, channels below, at and above multiples of 16, more images than are done at once. */
static const struct variant variants[] = {
    {"small and odd", 2, {5, 6}, 2, 7, 6, 5, false, false},
    {"padded channels", 3, {5, 20, 33}, 3, 12, 12, 3, true, false},
    {"the experiment's, narrower", 3, {16, 32, 32}, 3, 16, 16, 6, false, false},
    {"held", 2, {16, 16}, 3, 8, 8, 4, false, true},
    {"one block of many image channels", 1, {16}, 16, 6, 8, 9, true, false},
    {"one tile", 2, {16, 48}, 1, 4, 4, 70, false, false},
    {"odd below even", 3, {16, 16, 16}, 2, 14, 10, 3, true, true},
};

static struct net_config config_of(const struct variant *variant, enum norm_kind norm)
{
    struct net_config config = small_net_config();
    config.blocks = variant->blocks;
    memcpy(config.channels, variant->channels, sizeof variant->channels);
    config.image_channels = variant->image_channels;
    config.image_h = variant->h;
    config.image_w = variant->w;
    config.norm = norm;
    config.conv_bias = variant->bias;
    return config;
}

/* Some gammas negative, one 0: the pool's winners are then the smallest, and the first. */
static void turn_signs(struct small_net *small)
{
    for (size_t i = 0; i < small->net.config.blocks && small->net.block[i].gamma >= 0; i++) {
        real *gamma = small->weights + small->net.params[small->net.block[i].gamma].offset;
        for (size_t c = 0; c < small->net.block[i].conv.cout; c += 3)
            gamma[c] = -gamma[c];
        gamma[1] = 0;
    }
}

static void assert_close(const char *what, const struct variant *variant, const char *engine, size_t count, const real *a, const real *b)
{
    double error = numbers_error(count, a, b);
    if (!(error < tolerance()))
        fail_msg("%s, %s: %s differs by %g", variant->name, engine, what, error);
}

static void assert_close_doubles(const char *what, const struct variant *variant, const char *engine, size_t count, const double *a,
                                 const double *b)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance() * (1 + fabs(b[i]))))
            fail_msg("%s, %s: %s %zu is %.17g, not %.17g", variant->name, engine, what, i, a[i], b[i]);
}

static void compare(const struct variant *variant, enum norm_kind norm, const struct engine *engine)
{
    struct net_config config = config_of(variant, norm);
    struct small_net plain, fused;
    small_net_create_with(&plain, &config, &engine_reference, variant->n);
    small_net_create_with(&fused, &config, engine, variant->n);
    struct small_net *both[] = {&plain, &fused};
    for (int i = 0; i < 2; i++) {
        turn_signs(both[i]);
        both[i]->held[0] = variant->held;
        both[i]->mode.step = 25; /* renormalisation between its bounds */
        small_net_gradient(both[i]);
    }
    double losses[] = {small_net_loss(&plain), small_net_loss(&fused)};
    assert_close_doubles("loss", variant, engine->name, 1, &losses[1], &losses[0]);
    assert_close("features", variant, engine->name, variant->n * plain.net.features, fused.pass.features, plain.pass.features);
    for (int i = 0; i < plain.net.param_count; i++) {
        const struct net_param *param = &plain.net.params[i];
        if (param->kind == NET_CONV_BIAS && net_has_running(&plain.net) && !(variant->held && param->block == 0))
            continue; /* a batch norm takes the bias out: nothing is left but rounding */
        assert_close(param->name, variant, engine->name, param->length * param->channels, fused.gradient + param->offset,
                     plain.gradient + param->offset);
    }
    size_t first = variant->held ? plain.net.block[0].conv.cout : 0;
    if (net_has_running(&plain.net)) {
        assert_close_doubles("mean", variant, engine->name, plain.net.channels - first, fused.pass.batch.mean + first,
                             plain.pass.batch.mean + first);
        assert_close_doubles("variance", variant, engine->name, plain.net.channels - first, fused.pass.batch.var + first,
                             plain.pass.batch.var + first);
    }
    small_net_free(&plain);
    small_net_free(&fused);
}

static void training_passes_agree(void **state)
{
    (void)state;
    for (size_t e = 0; engine_at(e); e++)
        for (size_t v = 0; v < sizeof variants / sizeof *variants && engine_at(e)->block; v++)
            for (int norm = 0; norm < NORM_KIND_COUNT; norm++)
                compare(&variants[v], (enum norm_kind)norm, engine_at(e));
}

/* Statistics and scores of the images as one set, with two transforms at once. */
static void infer_with(struct small_net *small, struct running_batch *batch, struct batchnorm_transform *transforms,
                       struct infer_score *scores, size_t n)
{
    struct infer infer;
    struct infer_set set = {n, small->pass.x, small->pass.labels};
    assert_ok(infer_create(&infer, &small->net, (struct room){0}, &small->arena));
    assert_ok(running_batch_create(batch, &small->net, &small->arena));
    for (int i = 0; i < 2; i++)
        assert_ok(running_transform_create(&transforms[i], &small->net, &small->arena));
    infer_statistics(&infer, &small->mode, small->weights, &set, batch, &transforms[0], NULL);
    running_evaluation(&small->net, &small->running, &transforms[1]);
    infer_evaluate_all(&infer, small->weights, 2, (const struct batchnorm_transform *[]){&transforms[0], &transforms[1]}, &set, scores);
    for (int i = 0; i < 2; i++) {
        struct infer_score alone = infer_evaluate(&infer, small->weights, &transforms[i], &set);
        assert_true(alone.loss == scores[i].loss && alone.accuracy == scores[i].accuracy);
    }
}

static void inference_agrees(void **state)
{
    (void)state;
    for (size_t e = 0; engine_at(e); e++)
        for (size_t v = 0; v < sizeof variants / sizeof *variants && engine_at(e)->block; v++)
            for (int norm = 0; norm < NORM_KIND_COUNT; norm++) {
                struct net_config config = config_of(&variants[v], (enum norm_kind)norm);
                struct small_net plain, fused;
                struct running_batch batches[2];
                struct batchnorm_transform transforms[2][2];
                struct infer_score scores[2][2];
                small_net_create_with(&plain, &config, &engine_reference, variants[v].n);
                small_net_create_with(&fused, &config, engine_at(e), variants[v].n);
                turn_signs(&plain);
                turn_signs(&fused);
                infer_with(&plain, &batches[0], transforms[0], scores[0], variants[v].n);
                infer_with(&fused, &batches[1], transforms[1], scores[1], variants[v].n);
                assert_close_doubles("mean", &variants[v], engine_at(e)->name, plain.net.channels, batches[1].mean, batches[0].mean);
                assert_close_doubles("variance", &variants[v], engine_at(e)->name, plain.net.channels, batches[1].var, batches[0].var);
                for (int i = 0; i < 2; i++)
                    assert_close_doubles("loss", &variants[v], engine_at(e)->name, 1, &scores[1][i].loss, &scores[0][i].loss);
                small_net_free(&plain);
                small_net_free(&fused);
            }
}

enum { SET = 37 }; /* two chunks and five */

static struct infer_score statistics_in(struct small_net *small, size_t size, struct running_batch *batch,
                                        struct batchnorm_transform *transform)
{
    struct infer infer;
    struct infer_set set = {SET, small->pass.x, small->pass.labels};
    struct room room = {size ? arena_array(&small->arena, size, sizeof(real)) : NULL, size};
    struct infer_score score;
    assert_ok(infer_create(&infer, &small->net, room, &small->arena));
    assert_ok(running_batch_create(batch, &small->net, &small->arena));
    assert_ok(running_transform_create(transform, &small->net, &small->arena));
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < size; i++)
            room.at[i] = (real)NAN; /* somebody else used it in between */
        infer_statistics(&infer, &small->mode, small->weights, &set, batch, transform, &score);
    }
    struct infer_score alone = infer_evaluate(&infer, small->weights, transform, &set);
    assert_true(alone.loss == score.loss && alone.accuracy == score.accuracy);
    return score;
}

/* What of the set's activations is kept (nothing, some images', all, of all blocks) changes no bit. */
static void the_room_changes_no_bit(void **state)
{
    (void)state;
    for (size_t e = 0; engine_at(e); e++)
        for (size_t v = 0; v < sizeof variants / sizeof *variants && engine_at(e)->block; v++)
            for (int norm = 0; norm < NORM_KIND_COUNT; norm++) {
                struct net_config config = config_of(&variants[v], (enum norm_kind)norm);
                struct small_net small;
                struct running_batch batch, without;
                struct batchnorm_transform transform;
                small_net_create_with(&small, &config, engine_at(e), SET);
                turn_signs(&small);
                struct infer_score score = statistics_in(&small, 0, &without, &transform);
                size_t useful = infer_room(&small.net, SET), sizes[] = {useful / SET * 20, useful, useful + useful / 2, 8 * useful};
                for (size_t i = 0; i < sizeof sizes / sizeof *sizes && useful; i++) {
                    struct infer_score other = statistics_in(&small, sizes[i], &batch, &transform);
                    assert_true(other.loss == score.loss && other.accuracy == score.accuracy);
                    assert_memory_equal(batch.mean, without.mean, small.net.channels * sizeof(double));
                    assert_memory_equal(batch.var, without.var, small.net.channels * sizeof(double));
                }
                small_net_free(&small);
            }
}

/* A large mean with a small spread, a constant channel, and gamma = 0 leave everything finite and the spread's digits in place. */
static void no_digits_are_lost_to_a_large_mean(void **state)
{
    (void)state;
    struct net_config config = config_of(&variants[2], NORM_BATCH);
    config.conv_bias = true;
    for (size_t e = 0; engine_at(e); e++) {
        struct small_net near_zero, far;
        small_net_create_with(&near_zero, &config, engine_at(e), 6);
        small_net_create_with(&far, &config, engine_at(e), 6);
        real *bias = far.weights + far.net.params[far.net.block[1].bias].offset;
        const real *without = near_zero.weights + near_zero.net.params[near_zero.net.block[1].bias].offset;
        for (size_t c = 0; c < 32; c++)
            bias[c] = (real)(without[c] + 1e4);
        for (size_t k = 0; k < 9 * 16; k++) /* channel 3 is constant: its variance is 0 */
            near_zero.weights[near_zero.net.params[near_zero.net.block[1].weight].offset + k * 32 + 3] =
                far.weights[far.net.params[far.net.block[1].weight].offset + k * 32 + 3] = 0;
        small_net_gradient(&near_zero);
        small_net_gradient(&far);
        double rounding = 1e4 * NUMBERS_ROUNDING; /* of z itself, whose spread is about 1 */
        assert_near(far.pass.batch.var[16 + 3], 0, 1e-30);
        for (size_t c = 0; c < 32; c++)
            assert_near(far.pass.batch.var[16 + c], near_zero.pass.batch.var[16 + c], 8 * rounding);
        assert_near(small_net_loss(&far), small_net_loss(&near_zero), 64 * rounding);
        for (size_t i = 0; i < far.net.size; i++)
            assert_true(isfinite(far.gradient[i]));
        small_net_free(&near_zero);
        small_net_free(&far);
    }
}

/* A NaN in one image of one channel comes out as a NaN loss, through pool and ReLU, whatever the norm. */
static void a_nan_is_not_lost(void **state)
{
    (void)state;
    for (size_t e = 0; engine_at(e); e++)
        for (int norm = 0; norm < NORM_KIND_COUNT; norm++) {
            struct net_config config = config_of(&variants[2], (enum norm_kind)norm);
            struct small_net small;
            small_net_create_with(&small, &config, engine_at(e), 6);
            small.pass.x[100] = (real)NAN;
            assert_true(isnan(small_net_loss(&small)));
            small_net_free(&small);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_passes_agree),
        cmocka_unit_test(inference_agrees),
        cmocka_unit_test(the_room_changes_no_bit),
        cmocka_unit_test(no_digits_are_lost_to_a_large_mean),
        cmocka_unit_test(a_nan_is_not_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
