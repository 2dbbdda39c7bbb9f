/* memory_pages.c - segments of the program that are not writable were never written: a relocation
 * of code (DT_TEXTREL) would be lost, so an object with one is left alone. What the loader
 * relocates and then protects (RELRO) is in a writable segment. */
#include "gateway/io/memory_pages.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void
writ_memory_pages_give_back(void *ptr, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (page - (uintptr_t)ptr % page) % page;

    if (size >= before + page) {
        (void)madvise((char *)ptr + before, (size - before) / page * page, MADV_DONTNEED);
    }
}

/* ---- the program */

static const void *
at(const struct dl_phdr_info *object, uintptr_t address)
{
    return (const void *)(object->dlpi_addr + address);
}

static bool
has_relocated_code(const struct dl_phdr_info *object)
{
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        const ElfW(Dyn) *entry = at(object, header->p_vaddr);
        if (header->p_type != PT_DYNAMIC) {
            continue;
        }
        for (; entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_TEXTREL ||
                (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0)) {
                return true;
            }
        }
    }
    return false;
}

static int
give_back(struct dl_phdr_info *object, size_t size, void *ctx)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    (void)size;
    (void)ctx;
    if (has_relocated_code(object)) {
        return 0;
    }
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        uintptr_t begin = (uintptr_t)at(object, header->p_vaddr) / page * page;
        uintptr_t end = (uintptr_t)at(object, header->p_vaddr + header->p_memsz);
        if (header->p_type == PT_LOAD && (header->p_flags & PF_W) == 0) {
            (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
        }
    }
    return 0;
}

void
writ_memory_pages_give_back_program(void)
{
    (void)dl_iterate_phdr(give_back, NULL);
}
