def huber(error, delta=1.0):
    if abs(error) <= delta:
        return error * error / 2
    return delta * (abs(error) - delta / 2)
