def interpolated_pairs(f, g, cells):
    return None
