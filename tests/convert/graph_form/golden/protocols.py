def protocols(path, values):
    with open(path) as file, lock:
        try:
            first = values[0]
        except (IndexError, KeyError) as error:
            print(f"none: {error!r:>10}")
            raise RuntimeError("empty") from error
        assert first, "false"
    return [v for v in values if v and v is not first], 0 < first < 9
