"""Simulators written for Java, in a process of their own: a world of one subclasses `JavaGame`."""

from rpms.worlds.jvm.bridge import JavaGame, Simulator
from rpms.worlds.jvm.process import Program, missing

__all__ = ["JavaGame", "Program", "Simulator", "missing"]
