"""Recipes by name."""

from lsmtune.recipes.autotikv.recipe import AUTOTIKV
from lsmtune.recipes.base import Recipe
from lsmtune.recipes.compaction_style.recipe import COMPACTION_STYLE
from lsmtune.recipes.db_bench_study.recipe import DB_BENCH_STUDY
from lsmtune.recipes.jin2022.recipe import JIN2022
from lsmtune.recipes.sst_size.recipe import SST_SIZE

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (JIN2022, SST_SIZE, COMPACTION_STYLE, DB_BENCH_STUDY, AUTOTIKV)
}
