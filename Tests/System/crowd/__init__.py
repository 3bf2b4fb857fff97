"""The crowd proof: thousands of accounts and servers in trouble, judged by the servers' own log (see test_crowd.py)."""
