# The facilitator: reads the votes from the shared pool, writes the decision there, and answers with
# it. The crew has counted the votes: its verdict is the input.

member() { # the string member $1 of the line
    printf '%s\n' "$line" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"
}

while read -r line; do
    step=\"correlationId\":\"$(member correlationId)\"
    case $line in
    *'"type":"agent.step.requested"'*)
        verdict=$(member input)
        echo "{\"type\":\"pool.search\",$step,\"allTags\":[\"vote\",\"proposal_1\"]}"
        ;;
    *'"request":"pool.search"'*)
        votes=$(printf '%s\n' "$line" | grep -o '"segment":"votes"' | wc -l | tr -d ' ')
        output="{\"decision\":\"$verdict\",\"votes\":$votes}"
        echo "{\"type\":\"pool.put\",$step,\"content\":\"$verdict\",\"segment\":\"decisions\",\"importance\":1,"\
            "\"tags\":[\"decision\",\"final\",\"proposal_1\"],\"key\":\"proposal_1\"}"
        ;;
    *'"request":"pool.put"'*)
        echo "{\"type\":\"agent.step.completed\",$step,\"output\":$output}"
        ;;
    esac
done
