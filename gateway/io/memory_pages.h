/* memory_pages.h - returns pages to the system whose content is of no use, or can be had again. */
#ifndef WRIT_GATEWAY_MEMORY_PAGES_H
#define WRIT_GATEWAY_MEMORY_PAGES_H

#include <stddef.h>

/** The whole pages in some allocated memory, until they are written again. Their content is lost.
 */
void writ_memory_pages_give_back(void *ptr, size_t size);

/** The pages of all code and constants of the program and its libraries, until they are used again:
 * the start runs code once (configuration, keys, certificates, each library's own initialization),
 * and its pages would stay. They are copies of files: what is needed comes back from the system's
 * cache, some pages at once. Any thread. */
void writ_memory_pages_give_back_program(void);

#endif
