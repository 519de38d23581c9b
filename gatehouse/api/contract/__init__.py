"""The errors of the contract: status, code and message of each."""
