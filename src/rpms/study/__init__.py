"""Studies: conditions × tasks → runs, one YAML file for each table of the paper."""
