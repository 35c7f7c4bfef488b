"""A folder of made ALFWorld games, laid out as the official download."""

from pathlib import Path

from rpms.worlds.alfworld.games.make import make_games


def make_folder(folder: Path, count: int = 6, dialect: str = "0.3", split: str = "train") -> Path:
    out = folder / f"games-{dialect}-{split}"
    make_games(7, count, out, dialect=dialect, split=split)
    return out


def config_of(data: Path, method: str = "dqn", steps: int = 6) -> dict:
    """A configuration as in the original's YAML, as far as it is read."""
    return {
        "env": {
            "goal_desc_human_anns_prob": 0.0,
            "task_types": [1, 2, 3, 4, 5, 6],
            "domain_randomization": False,
            "expert_type": "handcoded",
        },
        "dataset": {
            "data_path": str(data / "json_2.1.1" / "train"),
            "eval_id_data_path": str(data / "json_2.1.1" / "valid_seen"),
            "eval_ood_data_path": str(data / "json_2.1.1" / "valid_unseen"),
            "num_train_games": -1,
            "num_eval_games": -1,
        },
        "general": {"training_method": method},
        "rl": {"training": {"max_nb_steps_per_episode": steps}},
        "dagger": {"training": {"max_nb_steps_per_episode": steps}},
    }
