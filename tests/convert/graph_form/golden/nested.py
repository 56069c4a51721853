def nested(n):
    seen = []

    @cell
    def add(x):
        nonlocal n
        if x in seen:
            return n
        n += x
        seen.append(x)
        return n

    while (x := n - 1) > 0:
        n = add(x)
        if n:
            late = x
    return late, lambda y: y if y else n
