/* The names of the files of a static log are those of the specification. */
#include "support/unit.h"

#include "evidence/log/tile.h"

START_TEST(tile_path_is_that_of_the_specification)
{
    static const struct {
        struct writ_tile tile;
        const char *path;
    } cases[] = {
        {{WRIT_TILE_HASHES, 0, 0, 256}, "tile/0/000"},
        {{WRIT_TILE_HASHES, 0, 999, 256}, "tile/0/999"},
        {{WRIT_TILE_HASHES, 3, 1000, 256}, "tile/3/x001/000"},
        {{WRIT_TILE_HASHES, 0, 1234067, 256}, "tile/0/x001/x234/067"},
        {{WRIT_TILE_HASHES, 0, 1234067, 8}, "tile/0/x001/x234/067.p/8"},
        {{WRIT_TILE_ENTRIES, 0, 273, 112}, "tile/entries/273.p/112"},
        {{WRIT_TILE_LONG, 0, 70001, 0}, "tile/long/x070/001"},
        {{WRIT_TILE_HASHES, 6, UINT64_MAX, 1}, "tile/6/x018/x446/x744/x073/x709/x551/615.p/1"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[WRIT_TILE_PATH_MAX];

        writ_tile_path(&cases[i].tile, path);
        ck_assert_str_eq(path, cases[i].path);
    }
}
END_TEST

START_TEST(tile_at_is_as_wide_as_its_tree)
{
    static const struct {
        uint64_t size, index;
        unsigned level, width;
    } cases[] = {
        {0, 0, 0, 0},
        {1, 0, 0, 1},
        {255, 0, 0, 255},
        {256, 0, 0, 256},
        {256, 1, 0, 0},
        {257, 1, 0, 1},
        {255, 0, 1, 0},
        {256, 0, 1, 1},
        {70000, 0, 1, 256},
        {70000, 1, 1, 17},
        {70000, 0, 2, 1},
        {WRIT_TREE_SIZE_MAX, 0, 6, 31},
        {WRIT_TREE_SIZE_MAX, 0, 7, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_uint_eq(
            writ_tile_at(WRIT_TILE_HASHES, cases[i].level, cases[i].index, cases[i].size).width,
            cases[i].width);
    }
}
END_TEST

WRIT_UNIT_MAIN("tile", tile_path_is_that_of_the_specification, tile_at_is_as_wide_as_its_tree)
