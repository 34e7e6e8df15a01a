"""Recipes by name."""

from lsmtune_reproductions.recipes.autotikv.recipe import AUTOTIKV
from lsmtune_reproductions.recipes.base import Recipe
from lsmtune_reproductions.recipes.compaction_style.recipe import COMPACTION_STYLE
from lsmtune_reproductions.recipes.db_bench_study.recipe import DB_BENCH_STUDY
from lsmtune_reproductions.recipes.jin2022.recipe import JIN2022
from lsmtune_reproductions.recipes.sst_size.recipe import SST_SIZE

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (JIN2022, SST_SIZE, COMPACTION_STYLE, DB_BENCH_STUDY, AUTOTIKV)
}
