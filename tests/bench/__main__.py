"""`python -m tests.bench` -> every figure of the README, in one run."""

from tests.bench import conversion, gates, startup, steps

for part in (steps, gates, conversion, startup):
    part.main()
