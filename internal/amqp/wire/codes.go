package wire

// Constructors of the primitive types (part 1, section 1.6).
const (
	codeDescribed  = 0x00
	codeNull       = 0x40
	codeTrue       = 0x41
	codeFalse      = 0x42
	codeUint0      = 0x43
	codeUlong0     = 0x44
	codeList0      = 0x45
	codeUbyte      = 0x50
	codeByte       = 0x51
	codeSmallUint  = 0x52
	codeSmallUlong = 0x53
	codeSmallInt   = 0x54
	codeSmallLong  = 0x55
	codeBool       = 0x56
	codeUshort     = 0x60
	codeShort      = 0x61
	codeUint       = 0x70
	codeInt        = 0x71
	codeFloat      = 0x72
	codeChar       = 0x73
	codeDecimal32  = 0x74
	codeUlong      = 0x80
	codeLong       = 0x81
	codeDouble     = 0x82
	codeTimestamp  = 0x83
	codeDecimal64  = 0x84
	codeDecimal128 = 0x94
	codeUUID       = 0x98
	codeBin8       = 0xa0
	codeStr8       = 0xa1
	codeSym8       = 0xa3
	codeBin32      = 0xb0
	codeStr32      = 0xb1
	codeSym32      = 0xb3
	codeList8      = 0xc0
	codeMap8       = 0xc1
	codeList32     = 0xd0
	codeMap32      = 0xd1
	codeArray8     = 0xe0
	codeArray32    = 0xf0
)

// Code is the numeric descriptor of a described type of the specification, the
// low word of domain 0x00000000.
type Code uint64

// Descriptors of the types this package knows.
const (
	CodeOpen        Code = 0x10
	CodeBegin       Code = 0x11
	CodeAttach      Code = 0x12
	CodeFlow        Code = 0x13
	CodeTransfer    Code = 0x14
	CodeDisposition Code = 0x15
	CodeDetach      Code = 0x16
	CodeEnd         Code = 0x17
	CodeClose       Code = 0x18
	CodeError       Code = 0x1d

	CodeReceived Code = 0x23
	CodeAccepted Code = 0x24
	CodeRejected Code = 0x25
	CodeReleased Code = 0x26
	CodeModified Code = 0x27
	CodeSource   Code = 0x28
	CodeTarget   Code = 0x29

	CodeCoordinator   Code = 0x30
	CodeDeclare       Code = 0x31
	CodeDischarge     Code = 0x32
	CodeDeclared      Code = 0x33
	CodeTransactional Code = 0x34

	CodeSASLMechanisms Code = 0x40
	CodeSASLInit       Code = 0x41
	CodeSASLChallenge  Code = 0x42
	CodeSASLResponse   Code = 0x43
	CodeSASLOutcome    Code = 0x44

	CodeHeader                Code = 0x70
	CodeDeliveryAnnotations   Code = 0x71
	CodeMessageAnnotations    Code = 0x72
	CodeProperties            Code = 0x73
	CodeApplicationProperties Code = 0x74
	CodeData                  Code = 0x75
	CodeSequence              Code = 0x76
	CodeValue                 Code = 0x77
	CodeFooter                Code = 0x78
)

// codeOfSymbol gives the numeric form of a symbolic descriptor, which a peer may
// use instead of it (part 1, section 1.4); 0 for an unknown one.
func codeOfSymbol(s []byte) Code {
	switch string(s) {
	case "amqp:open:list":
		return CodeOpen
	case "amqp:begin:list":
		return CodeBegin
	case "amqp:attach:list":
		return CodeAttach
	case "amqp:flow:list":
		return CodeFlow
	case "amqp:transfer:list":
		return CodeTransfer
	case "amqp:disposition:list":
		return CodeDisposition
	case "amqp:detach:list":
		return CodeDetach
	case "amqp:end:list":
		return CodeEnd
	case "amqp:close:list":
		return CodeClose
	case "amqp:error:list":
		return CodeError
	case "amqp:received:list":
		return CodeReceived
	case "amqp:accepted:list":
		return CodeAccepted
	case "amqp:rejected:list":
		return CodeRejected
	case "amqp:released:list":
		return CodeReleased
	case "amqp:modified:list":
		return CodeModified
	case "amqp:source:list":
		return CodeSource
	case "amqp:target:list":
		return CodeTarget
	}
	return codeOfRareSymbol(s)
}

func codeOfRareSymbol(s []byte) Code {
	switch string(s) {
	case "amqp:coordinator:list":
		return CodeCoordinator
	case "amqp:declare:list":
		return CodeDeclare
	case "amqp:discharge:list":
		return CodeDischarge
	case "amqp:declared:list":
		return CodeDeclared
	case "amqp:transactional-state:list":
		return CodeTransactional
	case "amqp:sasl-mechanisms:list":
		return CodeSASLMechanisms
	case "amqp:sasl-init:list":
		return CodeSASLInit
	case "amqp:sasl-challenge:list":
		return CodeSASLChallenge
	case "amqp:sasl-response:list":
		return CodeSASLResponse
	case "amqp:sasl-outcome:list":
		return CodeSASLOutcome
	case "amqp:header:list":
		return CodeHeader
	case "amqp:delivery-annotations:map":
		return CodeDeliveryAnnotations
	case "amqp:message-annotations:map":
		return CodeMessageAnnotations
	case "amqp:properties:list":
		return CodeProperties
	case "amqp:application-properties:map":
		return CodeApplicationProperties
	case "amqp:data:binary":
		return CodeData
	case "amqp:amqp-sequence:list":
		return CodeSequence
	case "amqp:amqp-value:*":
		return CodeValue
	case "amqp:footer:map":
		return CodeFooter
	}
	return 0
}

// Error conditions of the specification that this project uses (part 2, section
// 2.8.15 ff., part 4, section 4.5.8).
const (
	CondInternalError       Symbol = "amqp:internal-error"
	CondNotFound            Symbol = "amqp:not-found"
	CondUnauthorizedAccess  Symbol = "amqp:unauthorized-access"
	CondDecodeError         Symbol = "amqp:decode-error"
	CondResourceLimit       Symbol = "amqp:resource-limit-exceeded"
	CondNotAllowed          Symbol = "amqp:not-allowed"
	CondInvalidField        Symbol = "amqp:invalid-field"
	CondNotImplemented      Symbol = "amqp:not-implemented"
	CondResourceDeleted     Symbol = "amqp:resource-deleted"
	CondIllegalState        Symbol = "amqp:illegal-state"
	CondResourceLocked      Symbol = "amqp:resource-locked"
	CondPreconditionFailed  Symbol = "amqp:precondition-failed"
	CondConnectionForced    Symbol = "amqp:connection:forced"
	CondFramingError        Symbol = "amqp:connection:framing-error"
	CondWindowViolation     Symbol = "amqp:session:window-violation"
	CondErrantLink          Symbol = "amqp:session:errant-link"
	CondHandleInUse         Symbol = "amqp:session:handle-in-use"
	CondUnattachedHandle    Symbol = "amqp:session:unattached-handle"
	CondDetachForced        Symbol = "amqp:link:detach-forced"
	CondTransferLimit       Symbol = "amqp:link:transfer-limit-exceeded"
	CondMessageSizeExceeded Symbol = "amqp:link:message-size-exceeded"
	CondTxnUnknownID        Symbol = "amqp:transaction:unknown-id"
)
