"""Recipes by name."""

from lsmtune.recipes.autotikv.recipe import AutoTikv
from lsmtune.recipes.base import Recipe
from lsmtune.recipes.compaction_style.recipe import CompactionStyle
from lsmtune.recipes.db_bench_study.recipe import DbBenchStudy
from lsmtune.recipes.jin2022.recipe import Jin2022
from lsmtune.recipes.sst_size.recipe import SstSize

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (Jin2022(), SstSize(), CompactionStyle(), DbBenchStudy(), AutoTikv())
}
