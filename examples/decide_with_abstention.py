"""
How should I act, and when should I ask?
========================================

A table of utilities turns probabilities into actions. With a third action, "refer", the table also
says when to leave the decision to somebody else.
"""

# %%
# Which handwritten digits are a 1? The classifier is naive Bayes: it ranks well, but its
# probabilities are far too sure.
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from skcal import DecisionResponse
from skcal.decision import add_action, utility_from_costs

X, digit = load_digits(return_X_y=True)
y = digit == 1
train_X, test_X, train_y, test_y = train_test_split(X, y, stratify=y, random_state=0)

# %%
# A missed 1 costs ten, a false alarm costs one, asking costs 0.3. Rows are the truth, columns the
# actions. The names of the classes stand in the table, so nobody can read it transposed.
utility = add_action(utility_from_costs(fp=1, fn=10, pos_label=True, neg_label=False), "ask", -0.3)
for truth, row in utility.items():
    print(f"{truth!s:<6}", row)

# %%
# What the forecasts claim, what the actions brought, and how much a systematic swap of actions
# would have gained. Rounding to a grid with "floor" costs little here. Its guarantee holds for
# every table with these stakes, so it says little where SCDL is large; the grid is found from the
# SCDL of cross-validated forecasts.
rivals = {
    "naive Bayes": GaussianNB(),
    "recalibrated": CalibratedClassifierCV(GaussianNB(), method="isotonic"),
}
print(f"{'':<14}{'claimed':>9}{'got':>9}{'regret':>9}{'bound':>9}{'asks':>7}")
for name, model in rivals.items():
    response = DecisionResponse(model, utility=utility, rounding="floor").fit(train_X, train_y)
    actions = response.action_distribution(test_X)
    claimed = (response.expected_utility(test_X) * actions).sum(axis=1).mean()
    got, regret = response.score(test_X, test_y), response.swap_regret(test_X, test_y)
    asks = actions[:, -1].mean()
    print(
        f"{name:<14}{claimed:>9.3f}{got:>9.3f}{regret:>9.3f}"
        f"{response.regret_bound_:>9.3f}{asks:>7.1%}"
    )

# %%
# Which action should have been replaced by which? The map answers for the naive Bayes forecasts.
response = DecisionResponse(GaussianNB(), utility=utility, rounding="floor").fit(train_X, train_y)
regret, swap = response.swap_regret(test_X, test_y, return_map=True)
print({action: better for action, better in swap.items() if action != better})
