"""`python -m tests.bench` -> every figure of the README, in one run."""

from tests.bench import conversion, gates, launch, startup, steps

for part in (steps, launch, gates, conversion, startup):
    part.main()
