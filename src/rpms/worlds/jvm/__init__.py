"""Simulators written for Java, in a process of their own: what ScienceWorld and
TextWorldExpress share.
"""
