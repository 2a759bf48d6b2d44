/* Saved states that nobody will go on from: a training process was killed when its unit had ended, before it removed its state. */
#ifndef BNSWEEP_CLI_LEFTOVERS_H
#define BNSWEEP_CLI_LEFTOVERS_H

/* Remove the files of saved states in `folder` where every unit of the store, its journal included, is done or diverged; else, or where
 * that cannot be known, leave all. Only for who holds the store's lock. */
void leftovers_remove(const char *store, const char *folder);

#endif
