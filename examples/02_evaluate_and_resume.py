"""Record a run in a folder; run it again and it resumes, or sees that it is finished.

Run it with `python examples/02_evaluate_and_resume.py FOLDER`.
"""

import sys

import gymnasium as gym

import lifelong_gym  # noqa: F401 - registers
from lifelong_gym.baselines import OracleAgent
from lifelong_gym.runs import report, run_stream
from lifelong_gym.wrappers import TaskStream


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "runs/example"
    env = gym.make("lifelong_gym/Database-v0", tasks="builtin")
    agent = OracleAgent(TaskStream(env, order="shuffle", seed=1, limit=10))
    run_stream(agent, output=folder, progress=True)
    agent.close()
    print(report(folder, "markdown"))


if __name__ == "__main__":
    main()
