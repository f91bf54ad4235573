import os
import json


def mean(values: list[float]) -> float:
    return sum(values) / len(values) 


def label(value: int) -> str:
    return value


def total(values):
    result = undefined_name
    for value in values:
        result += value
    return result
