def search(rows, wanted):
    for i, row in enumerate(rows):
        for value in row:
            if value < 0:
                continue
            if value == wanted:
                return i
            if value > 100:
                break
        else:
            print("row", i)
    return None
