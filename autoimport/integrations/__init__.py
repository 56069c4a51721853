"""Where other programs meet autoimport: each names the place in which it looks for its extension.

`-p autoimport` makes pytest look for `pytest_plugins` in `autoimport`, `%load_ext autoimport` makes IPython look for
`load_ipython_extension` there; `autoimport.__getattr__` finds them here and in the modules beside.
"""

pytest_plugins = ["autoimport.integrations.pytest_plugin"]
