# Starts the program of an agent, by its role: each is in another language.
case $WRIT_CREW_ROLE in
proposer) exec node proposer.mjs ;;
reviewer) exec python3 reviewer.py ;;
facilitator) exec sh facilitator.sh ;;
esac
