#include "offspring.h"

#include <dirent.h>
#include <stdio.h>

/* One thread's children, as the kernel lists them. */
static bool has_children(long process, const char *thread)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/task/%.20s/children", process, thread);
    FILE *file = fopen(path, "r");
    int first = file ? getc(file) : 0; /* a list that cannot be read says nothing */
    if (file)
        fclose(file);
    return first != EOF;
}

bool offspring_any(pid_t process)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/task", (long)process);
    DIR *threads = opendir(path);
    bool any = !threads;
    for (const struct dirent *entry; !any && threads && (entry = readdir(threads));)
        any = entry->d_name[0] != '.' && has_children((long)process, entry->d_name);
    if (threads)
        closedir(threads);
    return any;
}
