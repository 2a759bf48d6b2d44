/* Every refusal names the file, the line and the key, what was found and what is allowed. */
#include "fixture.h"

/* FIXTURE_HEAD has 6 lines: what follows begins at line 7. */
#define HEAD FIXTURE_HEAD

static void names(void **state)
{
    (void)state;
    fixture_refuse(
        HEAD "momentun = 0.9\n", "7: [train] momentun = 0.9: ", "unknown key 'momentun'; did you mean 'momentum' of [train]?");
    fixture_refuse(HEAD "[tarin]\n", "7: ",
        "unknown section [tarin]; did you mean [train]? allowed: [sweep] [task] [network] [train] [measure] [grid] [arm NAME]");
    fixture_refuse(HEAD "[derived]\n", "7: ", "unknown section [derived]");
    fixture_refuse(HEAD "[armx]\n", "7: ", "unknown section [armx]; did you mean [arm NAME]?");
    fixture_refuse(HEAD "norm = batch\n", "7: [train] norm = batch: ", "'norm' does not belong here; put it into [network]");
    fixture_refuse(HEAD "[grid]\nval_size = 1,2\n",
        "8: [grid] val_size = 1,2: ", "'val_size' holds for the whole sweep; put it into [measure]");
    fixture_refuse(HEAD "[arm a]\nname = x\n", "8: [arm a] name = x: ", "put it into [sweep]");
    fixture_refuse(HEAD "file_hash = 00000000000000000000000000000000\n", "7: [train] file_hash", "unknown key");
}

static void arms(void **state)
{
    (void)state;
    fixture_refuse(HEAD "[arm]\n", "7: the name in [arm NAME]: ", "'' is empty; allowed: letters, digits and . _ -");
    fixture_refuse(HEAD "[arm a b]\n", "7: the name in [arm NAME]: ", "'a b' has other characters");
    fixture_refuse(HEAD "[arm a]\n[arm  a]\n", "8: ", "arm 'a' is there twice, first in line 7");
    fixture_refuse(HEAD "[arm a]\n[arm a]\n", "8: ", "section [arm a] is there twice, first in line 7");
}

static void values(void **state)
{
    (void)state;
    fixture_refuse(
        HEAD "batch = many\n", "7: [train] batch = many: ", "'many' is not a whole number; allowed: a whole number, 1..1000000");
    fixture_refuse(HEAD "batch = 0\n", "7: [train] batch = 0: ", "'0' is out of range");
    fixture_refuse(HEAD "batch =\n", "7: [train] batch = : ", "'' is empty");
    fixture_refuse(HEAD "seed = 9..0\n", "7: [train] seed = 9..0: ", "goes backwards");
    fixture_refuse(HEAD "[grid]\nschedule = constant, cosin\n", "8: [grid] schedule = constant, cosin: ",
        "'cosin' is none of the choices; allowed: constant | cosine | step | exponential | one-cycle");
}

static void required(void **state)
{
    (void)state;
    fixture_refuse("", " [sweep] name: ", "not set, but required; allowed: letters, digits and . _ -");
    fixture_refuse("[sweep]\nname = s\n[train]\nsteps = 6000\nlr = 1\n",
        " [train] optimizer: ", "not set, but required; allowed: sgd | adam | adamw | adamp");
    fixture_refuse("[sweep]\nname = s\n[train]\noptimizer = sgd\nlr = 1\n", " [train] steps: ", "not set, but required");
    fixture_refuse("[sweep]\nname = s\n[train]\nsteps = 6000\noptimizer = sgd\n[arm a]\nlr = 1\n[arm b]\n",
        "8: arm 'b': [train] lr: ", "not set, but required; allowed: a number, >= 0");
    fixture_refuse(
        HEAD "[task]\ndata = file\n", " [task] file: ", "not set, but required with data = file; allowed: a file's path");
    fixture_refuse(HEAD "schedule = step\n", " [train] lr_interval: ", "not set, but required with schedule = step");
    fixture_refuse("[sweep]\nname = s\n[train]\nsteps = 6000\nlr = 1\n[arm w]\noptimizer = adamw\n",
        "6: arm 'w': [train] weight_decay = 0: ", "not set, but required with optimizer = adamw");
}

static void rules(void **state)
{
    (void)state;
    fixture_refuse(HEAD "warmup = 1,7000\n", "7: [train] warmup = 1,7000: ", "7000 is more than steps = 6000");
    fixture_refuse(HEAD "[measure]\nfirst_check = 6001\n",
        "8: [measure] first_check = 6001: ", "is after the last step, steps = 6000; allowed: angle_window..steps");
    fixture_refuse(HEAD "[network]\nnorm = group\ngroups = 7\n",
        "9: [network] groups = 7: ", "7 groups do not divide the 32 channels of block 1");
    fixture_refuse(
        HEAD "[task]\nimage = 2\n", " [network] channels = 32-64-64: ", "to nothing; use fewer blocks or a larger image");
}

static void unused(void **state)
{
    (void)state;
    fixture_refuse(HEAD "momentum = 0.9\n",
        "7: [train] momentum = 0.9: ", "nothing reads this here: momentum is read only where optimizer = sgd");
    fixture_refuse(
        "[sweep]\nname = s\n[train]\nsteps = 6000\nlr = 1\nmomentum = 0.9\n[arm s]\noptimizer = sgd\n[arm a]\noptimizer = adam\nnesterov = no\n",
        "11: [arm a] nesterov = no: ", "nothing reads this here");
    fixture_refuse(HEAD "[arm a]\nlr = 1\n[arm b]\nlr = 2\n",
        "6: [train] lr = 1e-3: ", "nothing reads this: every arm sets its own lr; remove it");
    fixture_refuse(HEAD "[measure]\nreest = never\nreest_batches = 50\n",
        "9: [measure] reest_batches = 50: ", "read only where reest or ema is not never");
    fixture_refuse(HEAD "[measure]\nema_decays = 0.9\n", "8: [measure] ema_decays = 0.9: ", "read only where ema is not never");
    fixture_refuse(HEAD "[task]\norder = shuffled\n", "8: [task] order = shuffled: ", "read only where data = file");
    fixture_refuse(HEAD "freeze = linear\nfreeze_stats = held\n",
        "8: [train] freeze_stats = held: ", "read only where freeze names a convolution");
}

static void conflicts(void **state)
{
    (void)state;
    fixture_refuse(HEAD "[grid]\nlr = 1,2\n", "8: [grid] lr = 1,2: ", "the key is also in [train], line 6; keep one of the two");
    fixture_refuse(HEAD "[grid]\nseed = 0..9\n[arm a]\nseed = 5\n",
        "10: [arm a] seed = 5: ", "the key is also in [grid], line 8; the axis would not reach this arm");
    fixture_refuse(
        HEAD "[arm a]\nseed = 5\n[grid]\nseed = 0..9\n", "10: [grid] seed = 0..9: ", "the key is also in [arm a], line 8");
}

static void one_network_shape(void **state)
{
    (void)state;
    fixture_refuse(HEAD "[network]\nchannels = 32,64\n",
        "8: [network] channels = 32,64: ", "channels cannot vary, since a store has one network shape");
    fixture_refuse(HEAD "[grid]\nchannels = 32-64\n", "8: [grid] channels = 32-64: ", "channels cannot be an axis");
    fixture_refuse(HEAD "[arm a]\n[arm b]\nchannels = 32-64\n", "8: arm 'b': ", "channels differ from those of arm 'a'");
}

static void duplicates(void **state)
{
    (void)state;
    fixture_refuse(HEAD "[arm a]\n[arm b]\nlr = 0.001\n", "8: arm 'b': ", "unit 0 (arm 'a') and unit 1 (arm 'b') are the same");
    fixture_refuse(HEAD "[grid]\nbatch = 16,32\nseed = 3,4,3\n", "9: [grid] seed = 3,4,3: ", "a value is there twice: unit ");
    fixture_refuse("[sweep]\nname = s\n[train]\nsteps = 6000\noptimizer = adam\nlr = 1e-3,0.001\n",
        "6: [train] lr = 1e-3,0.001: ",
        "a value is there twice: unit 0 (arm 'default', lr = 0.001) and unit 1 (arm 'default', lr = 0.001) are the same");
    fixture_refuse(HEAD "[grid]\nbn_momentum = 0.1,0.2\nnorm = batch,layer\n", "8: [grid] bn_momentum = 0.1,0.2: ",
        "because bn_momentum is read only where norm = batch or batchrenorm; put the axis into the arms that read it");
}

static void sizes(void **state)
{
    (void)state;
    fixture_refuse(HEAD "[grid]\nseed = 0..9999\nbatch = 1..1001\n",
        "9: [grid] batch = 1..1001: ", "with this axis, arm 'default' has more than 10000000 units");
    fixture_refuse(HEAD "[grid]\nseed = 0..9999999\n[arm a]\n[arm b]\n", " the sweep has more than 10000000 units", "");
    fixture_refuse(HEAD "[grid]\nseed = 0..10000000\n", "8: [grid] seed = 0..10000000: ", "more than 10000000 values");
}

static void files(void **state)
{
    (void)state;
    fixture_refuse(
        HEAD "[task]\ndata = file\nfile = none.h5\n", "9: [task] file = none.h5: ", "/none.h5': No such file or directory");
    fixture_refuse(HEAD "[network]\ninit = .\n", "8: [network] init = .: ", "it is no regular file");
    char text[400];
    snprintf(text, sizeof text, HEAD "[network]\ninit = %.150s\n", "defaultt");
    fixture_refuse(text, "8: [network] init = defaultt: ", "No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(arms),
        cmocka_unit_test(values),
        cmocka_unit_test(required),
        cmocka_unit_test(rules),
        cmocka_unit_test(unused),
        cmocka_unit_test(conflicts),
        cmocka_unit_test(one_network_shape),
        cmocka_unit_test(duplicates),
        cmocka_unit_test(sizes),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
