"""The parts of `benchmarks/attack.py`: inputs by kind, kills, servers, pages."""
