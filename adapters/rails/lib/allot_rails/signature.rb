# SPDX-License-Identifier: Apache-2.0
require 'openssl'

module AllotRails
  # S82: signs payloads with the application's secret. Active Job's arguments are data, but they name
  # classes and methods (ActionMailer's job calls any method of any class), so a payload counts only if
  # an application with this secret wrote it.
  class Signature
    MARK = 'allot-hmac-sha256 '
    LENGTH = 64 # of the HMAC, in hexadecimal digits
    BEGIN_OF_JSON = MARK.bytesize + LENGTH + 1

    # The first secret signs, all of them verify.
    def initialize(secrets)
      # A key of its own, because secret_key_base also signs cookies.
      @keys = secrets.map { |secret| OpenSSL::HMAC.digest('SHA256', secret, 'allot queue payload') }
    end

    def sign(json) = "#{MARK}#{hmac(@keys.first, json)}\n#{json}"

    # The JSON of a signed payload; nil: no secret of this application has signed it.
    def verified(payload)
      return nil unless payload.start_with?(MARK) && payload.getbyte(BEGIN_OF_JSON - 1) == "\n".ord

      given = payload.byteslice(MARK.bytesize, LENGTH)
      json = payload.byteslice(BEGIN_OF_JSON..)
      json if @keys.any? { |key| OpenSSL.fixed_length_secure_compare(hmac(key, json), given) }
    end

    private

    def hmac(key, json) = OpenSSL::HMAC.hexdigest('SHA256', key, json)
  end
end
