import tensorflow as tf


def run(model, pictures):
    kept = []
    for picture in pictures:
        result = model(picture)
        kept.append(result)  # problem: note
    return kept
