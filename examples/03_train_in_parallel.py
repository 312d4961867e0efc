"""Four environments in four processes, as a training loop steps them.

Run it with `python examples/03_train_in_parallel.py`. The "policy" here draws one of a few
replies at random; a language model's samples go in its place.
"""

import random

from lifelong_gym import make_vec

REPLIES = (
    "Action: Operation\n```sql\nSHOW TABLES\n```",
    "Action: Answer\nFinal Answer: []",
    "I do not know what to do.",
)


def main():
    policy = random.Random(0)
    envs = make_vec(
        "Database-v0",
        num_envs=4,
        vectorization_mode="async",
        tasks="builtin",
        reward_shaper="partial",
    )
    envs.reset(seed=0)
    total = 0.0
    for step in range(5):
        replies = [policy.choice(REPLIES) for _ in range(envs.num_envs)]
        observations, rewards, *_ = envs.step(replies)
        total += rewards.sum()
        print(step, [text[:30] for text in observations])
    envs.close()
    print(f"reward {total:.2f}")


if __name__ == "__main__":
    main()
