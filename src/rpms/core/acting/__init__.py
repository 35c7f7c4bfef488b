"""Knowledge that acts: menus, guidance, the guard of actions, loops."""
