def places(obj, key, value):
    global total
    total = total + cell
    obj.count += 1
    obj.items[key], rest = value
    obj.last = value[1:key]
    del obj.items[key]
    return rest
