"""Print the oldest dependencies that setup.cfg allows, one requirement a line.

The runtime dependencies and the test extra: each `>=` becomes `==`.
"""

import configparser

config = configparser.ConfigParser()
with open("setup.cfg", encoding="utf-8") as file:
    config.read_file(file)
for section, option in (("options", "install_requires"), ("options.extras_require", "test")):
    print(config[section][option].replace(">=", "==").strip())
