"""Three small worlds, each written from `docs/your_own_world.md` in an hour: a vending machine, a
corridor of locked doors, a post office. Learned manuals are held against the hand-written ones.
"""
