# SPDX-License-Identifier: Apache-2.0
module AllotRails
  # `config.allot` of the application, checked when the application starts.
  class Settings
    DEFAULTS = {
      application: nil,                   # types of tasks begin with it
      database: 'allot',                  # Allot's database on the server of the connection
      connection: 'ActiveRecord::Base',   # the class whose connection submits
      priority_bounds: [0, 10, 20],       # below the first: class 0, and so on
      crashes: 3,                         # attempts of a job that may be lost with their process
      start_seconds: 20,                  # for the start of a process; added to time limits
      secrets: nil                        # the first one signs, all verify; nil: secret_key_base
    }.freeze

    attr_reader :application, :database, :priority_bounds, :crashes, :start_seconds

    def initialize(given)
      unknown = given.keys.map(&:to_sym) - DEFAULTS.keys
      refuse("unknown setting '#{unknown.first}' (known: #{DEFAULTS.keys.join(', ')})") if unknown.any?
      all = DEFAULTS.merge(given.to_h.transform_keys(&:to_sym))
      @application, @database, @connection, @priority_bounds, @crashes, @start_seconds, @secrets =
        all.values_at(*DEFAULTS.keys)
      check
    end

    def signature = @signature ||= Signature.new(secrets)

    # Looked up each time, because a class of the application is another one after a reload.
    def connection_class = @connection.to_s.constantize

    # Class 0 (first) to 3 (last) of a priority, of which smaller ones are first; nil: Allot's default.
    def priority_class(priority)
      priority && @priority_bounds.count { |bound| priority.to_i >= bound }
    end

    private

    def check
      @application = @application.to_s
      refuse("'application' must have 1 to 32 of A-Z a-z 0-9 . _ -") unless @application.match?(/\A[A-Za-z0-9._-]{1,32}\z/)
      refuse("'database' is not the name of a database") unless @database.to_s.match?(/\A[A-Za-z0-9_$-]{1,64}\z/)
      ascending = @priority_bounds.is_a?(Array) && @priority_bounds.size == 3 &&
                  @priority_bounds.all?(Integer) && @priority_bounds == @priority_bounds.sort
      refuse("'priority_bounds' must be three whole numbers in ascending order") unless ascending
      refuse("'start_seconds' must be a number") unless @start_seconds.is_a?(Numeric)
      refuse("'crashes' must be a whole number above 0") unless @crashes.is_a?(Integer) && @crashes.positive?
    end

    def secrets
      given = Array(@secrets || (defined?(::Rails.application) && ::Rails.application&.secret_key_base)).reject(&:blank?)
      refuse("the application has no 'secret_key_base'; set it, or 'secrets'") if given.empty?
      given
    end

    def refuse(why) = raise(ArgumentError, "config.allot: #{why}")
  end
end
