"""``make bench``: every benchmark, as ratios to a yardstick that is timed in the same run."""

from tests.benchmarks import distance, inference, measures, peers, recalibration

if __name__ == "__main__":
    measures.run()
    inference.run()
    distance.main(["exact"])
    recalibration.run()
    peers.run()
